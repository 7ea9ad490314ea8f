package config

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	errSecret = errors.New("looks like a secret, which must not stand here: put it into an environment variable and name that with judge.api_key_env, or into a file and name that with judge.api_key_file")
	// A header or an address may need a secret that is no API key.
	errSecretHeader = errors.New("holds a secret, which must not stand in the file: the judge's key belongs into an environment variable that judge.api_key_env names, or a file that judge.api_key_file names; any other secret header into RAGJUDGE_JUDGE_HEADERS (name=value,name=value)")
	errSecretURL    = errors.New("holds a password or a key, which must not stand in the file: the judge's key belongs into an environment variable that judge.api_key_env names, or a file that judge.api_key_file names; an address that can't do without goes into RAGJUDGE_JUDGE_BASE_URL")
)

// Shapes of keys. Whole values may be short; within a longer text they must be
// long, because "sk-" starts ordinary words too (Slovak, in file names).
var (
	wholeSecret = regexp.MustCompile(`^\s*["']?(?i:bearer\s+)?(?:sk-|gsk_)[A-Za-z0-9_-]{6,}["']?\s*$`)
	innerSecret = regexp.MustCompile(`\b(?:` + strings.Join([]string{
		`sk-[A-Za-z0-9_-]{20,}`,                       // OpenAI, Anthropic, OpenRouter, LiteLLM
		`gsk_[A-Za-z0-9]{20,}`,                        // Groq
		`hf_[A-Za-z0-9]{20,}`,                         // Hugging Face
		`AIza[A-Za-z0-9_-]{30,}`,                      // Google
		`AKIA[A-Z0-9]{16}`,                            // AWS
		`gh[pousr]_[A-Za-z0-9]{20,}`,                  // GitHub
		`github_pat_[A-Za-z0-9_]{20,}`,                //
		`xox[abprs]-[A-Za-z0-9-]{10,}`,                // Slack
		`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]+`,    // JSON Web Token
		`(?i:bearer)\s+[A-Za-z0-9._~+/-]*[0-9]\S{7,}`, // an Authorization header's value
	}, "|") + `)|-----BEGIN [A-Z ]*PRIVATE KEY-----`)
)

// looksSecret reports whether a text has the shape of a key.
func looksSecret(s string) bool {
	return wholeSecret.MatchString(s) || innerSecret.MatchString(s)
}

// looksRandom reports whether a name is rather a key without a known prefix, as
// Azure's 32 and 84 characters.
func looksRandom(s string) bool {
	return len(s) >= 28 && !strings.Contains(s, "_") && strings.ContainsAny(s, "0123456789")
}

// secretEndings are how the names of secrets end, without separators.
var secretEndings = []string{
	"apikey", "accesskey", "secretkey", "privatekey", "subscriptionkey", "secret", "token", "password", "passwd",
	"authorization", "bearer", "credential", "credentials",
}

// namesSecret reports whether a key's name says that its value is a secret.
func namesSecret(name string) bool {
	name = strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
	return name == "key" || slices.ContainsFunc(secretEndings, func(end string) bool { return strings.HasSuffix(name, end) })
}

// headerHoldsSecret reports whether a header's value is one by its name.
func headerHoldsSecret(name string) bool {
	low := strings.ToLower(name)
	return namesSecret(name) || strings.HasSuffix(low, "auth") || strings.HasSuffix(low, "-key") || strings.HasSuffix(low, "cookie")
}

// maskText masks a text that looks like a secret.
func maskText(s string) string {
	if looksSecret(s) {
		return masked
	}
	return s
}

// maskURL masks a password and the values of query parameters that are named
// like a secret. An address that can't be parsed is masked as a whole.
func maskURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return masked
	}
	changed := false
	if u.User != nil {
		u.User, changed = url.User("secret"), true
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil && u.RawQuery != "" {
		u.RawQuery, changed = "secret", true
	}
	for name, values := range q {
		low := strings.ToLower(name)
		if !namesSecret(name) && low != "sig" && low != "signature" && low != "code" && !slices.ContainsFunc(values, looksSecret) {
			continue
		}
		q.Set(name, "secret")
		u.RawQuery, changed = q.Encode(), true
	}
	if !changed {
		return s
	}
	return u.String()
}
