package config

import "fmt"

// Embeddings is [embeddings]: who gives vectors to the metrics over meaning. What
// it doesn't set is taken from [judge], but for the model, the prices and what
// shapes a chat.
type Embeddings struct {
	// Provider is OpenAI, Azure or Lexical; empty for that of [judge].
	Provider string
	// Model is the embedding model, such as "text-embedding-3-small"; empty for
	// none. Lexical needs none.
	Model string
	// BaseURL is the endpoint; empty for that of [judge] where the provider is the
	// same.
	BaseURL string
	// APIKeyEnv and APIKeyFile are where the key is; both empty for that of
	// [judge].
	APIKeyEnv, APIKeyFile string
	// PriceInput is the price in US dollars per million tokens that goes before the
	// embedded table; nil where not given.
	PriceInput *float64
	// Needed is no setting: whoever knows what the metrics ask sets it, so that
	// nobody is connected, and no key read, for nothing.
	Needed bool
}

// Embedder returns who gives vectors, in the form of a judge; nil where nobody is
// named. The offline judge has vectors of its own.
func (c *Config) Embedder() *Judge {
	e := &c.Embeddings
	j := c.Judge
	j.Name, j.Model, j.ExtraBody, j.Seed = "", e.Model, nil, nil
	j.PriceInput, j.PriceCached = e.PriceInput, nil
	j.PriceOutput, j.PriceCacheWrite, j.PriceBatchInput, j.PriceBatchOutput = nil, nil, nil, nil
	if e.PriceInput != nil {
		free := 0.0 // a vector is no text
		j.PriceOutput = &free
	}
	if e.Provider != "" && e.Provider != j.Provider {
		j.Provider, j.BaseURL = e.Provider, ""
	}
	if e.BaseURL != "" {
		j.BaseURL = e.BaseURL
	}
	if e.APIKeyEnv != "" || e.APIKeyFile != "" {
		j.APIKeyEnv, j.APIKeyFile, j.keyEnvGiven = e.APIKeyEnv, e.APIKeyFile, e.APIKeyEnv != ""
	}
	if j.Provider == Lexical {
		j.Model, j.BaseURL = "", ""
		return &j
	}
	if e.Model == "" {
		return nil
	}
	return &j
}

// wholeEmbeddings checks what no single key of [embeddings] can tell.
func (l *loader) wholeEmbeddings() {
	e := &l.cfg.Embeddings
	j := l.cfg.Embedder()
	if j != nil && j.Provider == Lexical && (e.Model != "" || e.BaseURL != "") && !l.bad["embeddings.provider"] {
		key := "embeddings.model"
		if e.Model == "" {
			key = "embeddings.base_url"
		}
		l.add(Problem{Place: l.cfg.Place(key), Key: key, layer: layerWhole,
			Message: `it is set, but the provider is "lexical", which compares words and calls nobody: set embeddings.provider to "openai" or "azure", or leave it out`})
		return
	}
	if j == nil || j.Provider == Lexical || l.bad["embeddings.provider"] || l.bad["embeddings.base_url"] {
		return
	}
	if j.Provider == Azure && j.BaseURL == "" {
		l.missing("embeddings.base_url", `the provider "azure" needs the address of its resource, such as https://name.openai.azure.com`)
		return
	}
	base := &l.cfg.Judge
	given := l.layer["judge.api_key_env"] > layerDefault && base.APIKeyEnv != "" || base.APIKeyFile != ""
	own := l.layer["embeddings.api_key_env"] > layerDefault || e.APIKeyFile != ""
	if mine, theirs := hostOf(j), hostOf(base); given && !own && mine != theirs && !local(j.BaseURL) {
		l.add(Problem{Place: l.cfg.Place("embeddings.base_url"), Key: "embeddings.base_url", layer: layerWhole,
			Message: fmt.Sprintf("the key that [judge] names would be sent to %s as well; set embeddings.api_key_env", mine)})
	}
}
