package cost

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// Local is the provider of a server in one's own network: nothing in the table
// is its price.
const Local = "local"

// providerNames maps the names under which providers go, in model names and in
// configurations, to the table's. Gateways, which pass on what others serve at
// list price, are "". Azure's prices are OpenAI's, but for regional deployments.
var providerNames = map[string]string{
	"openai": "openai", "azure": "openai", "azure_openai": "openai",
	"anthropic": "anthropic",
	"gemini":    "gemini", "google": "gemini", "models": "gemini", // Gemini's own "models/gemini-2.5-pro"
	"vertex_ai": "vertex_ai", "vertex": "vertex_ai",
	"mistral": "mistral", "mistralai": "mistral",
	"xai": "xai", "x-ai": "xai",
	"deepseek": "deepseek", "groq": "groq", "cohere": "cohere", "voyage": "voyage",
	"together": "together_ai", "together_ai": "together_ai",
	"fireworks": "fireworks_ai", "fireworks_ai": "fireworks_ai",
	"openrouter": "", "litellm": "", "litellm_proxy": "",
	"local": Local, "lexical": Local, "ollama": Local, "vllm": Local,
}

// hosts maps the hosts of endpoints to the names in providerNames. An entry also
// stands for all hosts below it.
var hosts = map[string]string{
	"openai.com": "openai", "openai.azure.com": "azure", "cognitiveservices.azure.com": "azure",
	"anthropic.com": "anthropic", "generativelanguage.googleapis.com": "gemini", "aiplatform.googleapis.com": "vertex_ai",
	"mistral.ai": "mistral", "x.ai": "xai", "deepseek.com": "deepseek", "groq.com": "groq", "cohere.com": "cohere", "cohere.ai": "cohere",
	"voyageai.com": "voyage", "together.xyz": "together", "together.ai": "together", "fireworks.ai": "fireworks",
	"openrouter.ai": "openrouter", "localhost": Local, "local": Local, "internal": Local,
}

// ProviderOf returns the provider behind a base URL, as a hint for Lookup:
// "openai" for api.openai.com and for none at all, Local for a host without a
// dot, a loopback or a private address, and "" where it is not known.
func ProviderOf(baseURL string) string {
	if baseURL == "" {
		return "openai"
	}
	u, err := url.Parse(baseURL)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() {
			return Local
		}
		return ""
	}
	if !strings.Contains(host, ".") {
		return Local
	}
	for rest, ok := host, true; ok; _, rest, ok = strings.Cut(rest, ".") {
		if p, known := hosts[rest]; known {
			return p
		}
	}
	// Vertex AI's regional hosts: us-central1-aiplatform.googleapis.com.
	if strings.HasSuffix(host, "-aiplatform.googleapis.com") {
		return "vertex_ai"
	}
	return ""
}

// Lookup returns the price of a model, and false if it is not known. Hints name
// who serves it ("openai", "groq", what ProviderOf returns); unknown and empty
// ones say nothing. With a hint, only that provider's prices count; without one
// and without a provider in the name, the price is the one of the provider that
// the table has the bare name for.
//
// Names are tried in this order, ignoring case: the provider's entry ("groq/" +
// model), the name as it is, the name without its first part if that is the
// name of a provider or gateway ("openrouter/openai/gpt-4o"), and each of these
// without the date of a snapshot. A date is only dropped where every dated
// snapshot in the table costs what the undated model does: gpt-4o-2024-05-13
// costs twice gpt-4o, so an unknown snapshot of gpt-4o has no known price.
// Price.Note tells where the name that was found is another one.
func (t *Table) Lookup(model string, hints ...string) (Price, bool) {
	model = strings.TrimSpace(model)
	provider, known := hinted(hints)
	if !known || model == "" {
		return Price{}, false
	}
	p, ok := t.find(model, provider)
	if !ok {
		base, dated := undated(model)
		if !dated {
			return Price{}, false
		}
		if p, ok = t.find(base, provider); !ok || !t.datesAlike(p) {
			return Price{}, false
		}
	}
	if !strings.EqualFold(p.Model, model) {
		p.Note = fmt.Sprintf("priced as %s of %s", p.Model, p.Provider)
	}
	return p, true
}

// hinted returns the table's name of the hinted provider, or "" for none. It
// reports false if the hints exclude every price: a local server, or two
// different providers.
func hinted(hints []string) (provider string, known bool) {
	for _, h := range hints {
		p := providerNames[strings.ToLower(strings.TrimSpace(h))]
		if p == Local || p != "" && provider != "" && p != provider {
			return "", false
		}
		if p != "" {
			provider = p
		}
	}
	return provider, true
}

// find looks a name up, with a provider or without ("").
func (t *Table) find(name, provider string) (Price, bool) {
	for {
		if provider != "" {
			if p, ok := t.named(provider + "/" + name); ok {
				return p, true
			}
		}
		if p, ok := t.named(name); ok && (provider == "" || sameProvider(p.Provider, provider)) {
			return p, true
		}
		first, rest, ok := strings.Cut(name, "/")
		if !ok || rest == "" {
			return Price{}, false
		}
		prefix, known := providerNames[strings.ToLower(first)]
		switch {
		case !known || prefix == Local:
			return Price{}, false
		case prefix != "" && provider != "" && !sameProvider(prefix, provider):
			return Price{}, false // groq/openai/x is not OpenAI's x
		case prefix != "" && provider == "":
			provider = prefix
		}
		name = rest
	}
}

// sameProvider reports whether a hint may mean an entry's provider. Google sells
// Gemini's models under two names at one price; the bare names stand under
// vertex_ai.
func sameProvider(a, b string) bool {
	google := func(s string) bool { return s == "gemini" || s == "vertex_ai" }
	return a == b || google(a) && google(b)
}

func (t *Table) named(name string) (Price, bool) {
	if p, ok := t.prices[name]; ok {
		return p, true
	}
	p, ok := t.prices[t.folded[strings.ToLower(name)]]
	return p, ok
}

var snapshot = regexp.MustCompile(`[-@](?:\d{4}-\d{2}-\d{2}|20\d{6})$`)

// undated returns a model's name without the date of a snapshot, and whether it
// had one. A fine-tuned model is left alone: its name holds that of its base.
func undated(model string) (string, bool) {
	at := snapshot.FindStringIndex(model)
	if at == nil || at[0] == 0 || strings.HasPrefix(model, "ft:") {
		return model, false
	}
	return model[:at[0]], true
}

// datesAlike reports whether all dated snapshots of a model cost what it does.
func (t *Table) datesAlike(p Price) bool {
	for name, q := range t.prices {
		if base, dated := undated(name); dated && base == p.Model && (q.Input != p.Input || q.Output != p.Output) {
			return false
		}
	}
	return true
}
