package config_test

import (
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/config"
)

// TestEmbeddings: what [embeddings] doesn't set is that of [judge], but for what
// belongs to a model.
func TestEmbeddings(t *testing.T) {
	const judge = `
metrics = ["semantic_similarity"]
[dataset]
path = "x.jsonl"
[judge]
model = "m"
base_url = "https://llm.example/v1"
api_key_env = "KEY"
price_input = 1.0
price_output = 2.0
timeout = "5s"
extra_body = { top_k = 1 }
`
	c := load(t, judge, config.Options{})
	if c.Embedder() != nil {
		t.Error("nobody is named, and yet somebody gives vectors")
	}
	e := load(t, judge+"[embeddings]\nmodel = \"e\"\n", config.Options{}).Embedder()
	if e == nil || e.Model != "e" || e.Provider != config.OpenAI || e.BaseURL != "https://llm.example/v1" || e.APIKeyEnv != "KEY" || e.Timeout.Seconds() != 5 {
		t.Fatalf("inherited %+v", e)
	}
	if e.PriceInput != nil || e.PriceOutput != nil || e.ExtraBody != nil {
		t.Errorf("what belongs to the judge's model was inherited: %+v", e)
	}
	e = load(t, judge+"[embeddings]\nmodel = \"e\"\nbase_url = \"http://localhost:1/v1\"\nprice_input = 0.5\n", config.Options{}).Embedder()
	if e.BaseURL != "http://localhost:1/v1" || *e.PriceInput != 0.5 || *e.PriceOutput != 0 {
		t.Errorf("own %+v", e)
	}
	if e := load(t, judge+"[embeddings]\nprovider = \"lexical\"\n", config.Options{}).Embedder(); e == nil || e.Provider != config.Lexical || e.BaseURL != "" {
		t.Errorf("offline vectors beside a judge: %+v", e)
	}
	offline := "metrics = [\"mrr\"]\n[dataset]\npath = \"x\"\n[judge]\nprovider = \"lexical\"\n"
	if e := load(t, offline, config.Options{}).Embedder(); e == nil || e.Provider != config.Lexical {
		t.Errorf("the offline judge has vectors of its own: %+v", e)
	}
	for text, says := range map[string]string{
		judge + "[embeddings]\nmodel = \"e\"\nbase_url = \"https://other.example/v1\"\n": "the key that [judge] names would be sent to other.example",
		judge + "[embeddings]\nmodel = \"e\"\nprovider = \"azure\"\n":                    "needs the address of its resource",
		offline + "[embeddings]\nmodel = \"e\"\n":                                        "calls nobody",
		judge + "[embeddings]\nmodell = \"e\"\n":                                         "embeddings.model",
		judge + "[embeddings]\nprice_input = -1\n":                                       "embeddings.price_input",
	} {
		_, err := config.Load(write(t, text), config.Options{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s\ngave %v, want an error that says %q", text, err, says)
		}
	}
}
