package llm

import (
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		provider, base, version string
		want                    address
	}{
		{"openai", "", "", address{base: "https://api.openai.com/v1"}},
		{"openai", "https://api.openai.com", "", address{base: "https://api.openai.com/v1"}},
		{"openai", " https://x.example/v1/ ", "", address{base: "https://x.example/v1"}},
		{"openai", "https://x.example//v1//chat/completions/", "", address{base: "https://x.example/v1"}},
		{"openai", "https://x.example/v1/v1", "", address{base: "https://x.example/v1"}},
		{"openai", "https://x.example/v1/models", "", address{base: "https://x.example/v1"}},
		{"openai", "https://x.example/v1/responses", "", address{base: "https://x.example/v1"}},
		{"openai", "https://n.openai.azure.com/openai/v1/", "", address{base: "https://n.openai.azure.com/openai/v1"}},
		{"openai", "http://[::1]:8000/v1", "", address{base: "http://[::1]:8000/v1"}},
		{"openai", "https://gw.example/team a/v1#x", "", address{base: "https://gw.example/team%20a/v1"}},
		{"azure", "https://n.openai.azure.com", "", address{base: "https://n.openai.azure.com", apiVersion: DefaultAPIVersion}},
		{"azure", "https://n.openai.azure.com/", "2025-01-01-preview", address{base: "https://n.openai.azure.com", apiVersion: "2025-01-01-preview"}},
		{"azure", "https://n.openai.azure.com/openai/v1/openai/deployments/d/", "", address{base: "https://n.openai.azure.com", apiVersion: DefaultAPIVersion, deployment: "d"}},
		{"azure", "https://n.openai.azure.com/openai/deployments/gpt-4.1/chat/completions?api-version=2024-06-01", "", address{base: "https://n.openai.azure.com", apiVersion: "2024-06-01", deployment: "gpt-4.1"}},
		{"azure", "https://n.openai.azure.com/openai/deployments/d?api-version=2024-06-01", "2024-06-01", address{base: "https://n.openai.azure.com", apiVersion: "2024-06-01", deployment: "d"}},
		{"azure", "https://gw.example/openai-proxy/openai/deployments/d", "", address{base: "https://gw.example/openai-proxy", apiVersion: DefaultAPIVersion, deployment: "d"}},
		{"azure", "https://n.openai.azure.com/v1", "", address{base: "https://n.openai.azure.com", apiVersion: DefaultAPIVersion}},
	} {
		got, err := addressOf(c.provider, c.base, c.version)
		if err != nil || got != c.want {
			t.Errorf("%s %q: %+v, %v, want %+v", c.provider, c.base, got, err, c.want)
		}
	}
	for _, c := range []struct{ provider, base, version, says string }{
		{"azure", "", "", "https://"}, {"azure", "https://n.openai.azure.com", "gpt-4o-2024-08-06", "api_version"}, {"azure", "https://n.openai.azure.com", "0613", "api_version"},
		{"azure", "https://n.openai.azure.com/openai/deployments/d?api-version=2024-06-01", "2024-10-21", "2024-06-01"},
		{"azure", "https://n.openai.azure.com?api-key=secret-1", "", "query"}, {"openai", "https://x.example/v1?api-version=2024-06-01", "", "query"},
		{"openai", "x.example/v1?key=secret-1", "", "https://"}, {"openai", "https://u:secret-1@x.example", "", "user and password"}, {"openai", "https://%zz?k=secret-1", "", "no URL"},
	} {
		_, err := addressOf(c.provider, c.base, c.version)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret-1") {
			t.Errorf("%s %q %q: %v", c.provider, c.base, c.version, err)
		}
	}
}
