package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// address is where requests go.
type address struct {
	// base is what go-openai puts the path of a chat behind.
	base string
	// apiVersion is Azure's, deployment the one that a pasted address names.
	apiVersion, deployment string
}

// pastedPaths are what is often pasted with a base URL.
var pastedPaths = []string{"/chat/completions", "/completions", "/responses", "/models", "/embeddings", "/chat"}

// apiVersions are the forms of Azure's versions.
var apiVersions = regexp.MustCompile(`^(?:\d{4}-\d{2}-\d{2}(?:-preview)?|preview|latest|v1)$`)

// addressOf checks an address and takes off what is often pasted with it.
func addressOf(provider, text, apiVersion string) (address, error) {
	azure := provider == ProviderAzure
	if text == "" && !azure {
		return address{base: DefaultBaseURL}, nil
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return address{}, errors.New("judge.base_url: it is no URL") // what url.Parse says holds all of it
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return address{}, fmt.Errorf("judge.base_url: %q must begin with https:// or http:// and name a host", withoutQuery(u))
	case u.User != nil:
		return address{}, errors.New("judge.base_url: user and password don't belong in the address; use judge.headers or a key")
	}
	a := address{apiVersion: strings.TrimSpace(apiVersion)}
	query := u.Query()
	pasted := query.Get("api-version")
	query.Del("api-version")
	switch {
	case len(query) > 0, pasted != "" && !azure:
		return address{}, errors.New("judge.base_url: it must not hold a query; Azure's version is judge.api_version")
	case pasted != "" && a.apiVersion != "" && pasted != a.apiVersion:
		return address{}, fmt.Errorf("judge.base_url: it names the api-version %q, and judge.api_version is %q; leave one out", pasted, a.apiVersion)
	}
	u.RawQuery, u.Fragment = "", ""
	u.Path, u.RawPath = strings.TrimRight(path.Clean("/"+u.Path), "/"), ""
	for _, p := range pastedPaths {
		u.Path = strings.TrimSuffix(u.Path, p)
	}
	for strings.HasSuffix(u.Path, "/v1/v1") {
		u.Path = strings.TrimSuffix(u.Path, "/v1")
	}
	if azure {
		if a.apiVersion = cmp.Or(a.apiVersion, pasted, DefaultAPIVersion); !apiVersions.MatchString(a.apiVersion) {
			return address{}, fmt.Errorf("judge.api_version: %q is no version of Azure's API, such as %s (it is not the model's version)", a.apiVersion, DefaultAPIVersion)
		}
		u.Path, a.deployment = azurePath(u.Path)
	} else if u.Hostname() == "api.openai.com" && u.Path == "" {
		u.Path = "/v1"
	}
	a.base = u.String()
	return a, nil
}

// azurePath is the part of a path that comes before Azure's own, which
// go-openai writes, and the deployment that it names.
func azurePath(p string) (before, deployment string) {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if part == "deployments" && i+1 < len(parts) {
			deployment = parts[i+1]
		}
	}
	for i, part := range parts {
		if part == "openai" {
			return strings.Join(parts[:i], "/"), deployment
		}
	}
	return strings.TrimSuffix(p, "/v1"), deployment
}

// withoutQuery prints an address without what may be a secret in it.
func withoutQuery(u *url.URL) string {
	c := *u
	c.RawQuery, c.Fragment = "", ""
	return c.Redacted()
}
