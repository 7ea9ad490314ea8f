package llm_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/ragjudge/ragjudge/llm"
)

// fakeProxy passes every request to one server, whatever host it names.
type fakeProxy struct {
	to, user string // user:password that it wants; empty for none
	mu       sync.Mutex
	seen     []string
}

func (p *fakeProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.seen = append(p.seen, r.Method+" "+r.Host)
	p.mu.Unlock()
	if want := "Basic " + base64.StdEncoding.EncodeToString([]byte(p.user)); p.user != "" && r.Header.Get("Proxy-Authorization") != want {
		w.Header().Set("Proxy-Authenticate", "Basic")
		http.Error(w, "<html>Proxy Authentication Required</html>", http.StatusProxyAuthRequired)
		return
	}
	if r.Method == http.MethodConnect {
		http.Error(w, "no tunnels here", http.StatusForbidden)
		return
	}
	back, err := net.Dial("tcp", p.to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer back.Close()
	r.Header.Del("Proxy-Authorization")
	r.Close = true
	if err := r.Write(back); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	res, err := http.ReadResponse(bufio.NewReader(back), r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}

// Proxies are those of the environment, which net/http reads once in a process:
// so each case is a process of its own.
func TestProxies(t *testing.T) {
	if base := os.Getenv("LLM_PROXY_BASE"); base != "" {
		resp, err := newOpenAI(t, llm.OpenAIConfig{BaseURL: base}).Complete(t.Context(), ratingRequest("x"))
		if e := llm.AsError(err); e != nil {
			fmt.Printf("\nGOT %v %s %s | %s\n", e.Kind, e.Code, e.Message, e.Hint)
		} else if err == nil {
			fmt.Printf("\nGOT reply %s\n", resp.Content)
		}
		return
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	to := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct {
		name, base, wants string
		env               func(proxy string) []string
		want              string
		seen              int
	}{
		{"through it", "http://judge.example/v1", "", func(p string) []string { return []string{"HTTP_PROXY=" + p} }, "GOT reply 4", 1},
		{"with a password", "http://judge.example/v1", "u:pass-word-1", func(p string) []string {
			return []string{"http_proxy=" + strings.Replace(p, "http://", "http://u:pass-word-1@", 1)}
		}, "GOT reply 4", 1},
		{"without its password", "http://judge.example/v1", "u:p", func(p string) []string { return []string{"HTTP_PROXY=" + p} }, "GOT fatal proxy_auth", 1},
		{"without its password, over TLS", "https://judge.example/v1", "u:p", func(p string) []string { return []string{"HTTPS_PROXY=" + p} }, "GOT fatal proxy_auth", 1},
		{"refused by it", "https://judge.example/v1", "", func(p string) []string { return []string{"HTTPS_PROXY=" + p} }, "GOT fatal proxy_refused", 1},
		{"no proxy for the host", "http://judge.invalid/v1", "", func(p string) []string { return []string{"HTTP_PROXY=" + p, "NO_PROXY=.invalid"} }, "GOT transient", 0},
		{"never for this machine", server.URL, "", func(p string) []string { return []string{"HTTP_PROXY=" + p} }, "GOT reply 4", 0},
		{"no address", "http://judge.example/v1", "", func(string) []string { return []string{"HTTP_PROXY=http://u:pass-word-1@%zz"} }, "GOT fatal proxy_address", 0},
		{"nobody there", "http://judge.example/v1", "", func(string) []string { return []string{"HTTP_PROXY=http://127.0.0.1:1"} }, "GOT transient can_not_connect", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &fakeProxy{to: to, user: c.wants}
			proxy := httptest.NewServer(p)
			defer proxy.Close()
			if _, err := url.Parse(proxy.URL); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxies$")
			for _, v := range os.Environ() {
				if name, _, _ := strings.Cut(v, "="); !strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
					cmd.Env = append(cmd.Env, v)
				}
			}
			cmd.Env = append(append(cmd.Env, c.env(proxy.URL)...), "LLM_PROXY_BASE="+c.base)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, want %q:\n%s", err, c.want, out)
			}
			if strings.Contains(string(out), "pass-word-1") {
				t.Errorf("the password is told: %s", out)
			}
			if strings.Contains(c.want, "proxy_") && !strings.Contains(string(out), "HTTPS_PROXY") {
				t.Errorf("no hint: %s", out)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if len(p.seen) != c.seen {
				t.Errorf("the proxy saw %q", p.seen)
			}
		})
	}
}
