package config

import (
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"unicode"
)

// maxKeyFile is the size of the largest file that can hold a key, in bytes.
const maxKeyFile = 64 << 10

// Key reads the judge's API key: from APIKeyFile if it is set, else from the
// environment variable APIKeyEnv through getenv. White space, line ends, a byte
// order mark, quotes and a "Bearer " around it, which come from pasting, are
// taken off, with a warning. No warning and no error holds the key.
//
// The key is empty, without an error, where none is sent: for Lexical; with an
// empty APIKeyEnv and no file; and if the variable is not set but the endpoint
// is local (localhost, a private or link-local address, a host name without a
// dot, or one that ends in .local, .internal, .lan or .localhost).
//
// A key that is missing, that has two lines, or that holds characters no header
// can carry is an error that says what to do.
func (j *Judge) Key(getenv func(string) string) (Secret, []string, error) {
	if j.Provider == Lexical {
		return Secret{}, nil, nil
	}
	raw, place := "", ""
	switch {
	case j.APIKeyFile != "":
		b, err := readKeyFile(j.APIKeyFile)
		if err != nil {
			return Secret{}, nil, err
		}
		raw, place = b, "the key file "+j.APIKeyFile
	case j.APIKeyEnv == "":
		return Secret{}, nil, nil
	default:
		raw, place = getenv(j.APIKeyEnv), "the environment variable "+j.APIKeyEnv
	}
	key := trimKey(raw)
	if key == "" {
		if j.APIKeyFile == "" && local(j.BaseURL) {
			return Secret{}, nil, nil
		}
		return Secret{}, nil, j.missingKey(raw, place)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) || r == ' ' }) {
		return Secret{}, nil, fmt.Errorf("read the judge's key: %s holds spaces, line breaks or other characters within the key: put the key there once more, alone on one line", place)
	}
	var warnings []string
	// One line end is how every editor and secret store ends a file.
	if trimmed := strings.TrimSuffix(strings.TrimSuffix(raw, "\n"), "\r"); key != raw && (j.APIKeyFile == "" || key != trimmed) {
		warnings = append(warnings, place+" has white space, quotes or a word around the key, which were taken off")
	}
	if host := j.foreignHost(); host != "" {
		warnings = append(warnings, fmt.Sprintf("the key in OPENAI_API_KEY is sent to %s; set judge.api_key_env to say that this is meant, or which key is", host))
	}
	return NewSecret(key), warnings, nil
}

func (j *Judge) missingKey(raw, place string) error {
	state := "is not set"
	if raw != "" || j.APIKeyFile != "" {
		state = "is empty"
	}
	if j.APIKeyFile != "" {
		return fmt.Errorf("read the judge's key: %s %s: put the key into it, alone on one line", place, state)
	}
	return fmt.Errorf("read the judge's key: %s %s: put the key into it (export %s=...), name another one with judge.api_key_env, or set that to \"\" for an endpoint that needs no key", place, state, j.APIKeyEnv)
}

// foreignHost is the host that gets OPENAI_API_KEY only because that is the
// default, or "".
func (j *Judge) foreignHost() string {
	if j.keyEnvGiven || j.APIKeyFile != "" || j.Provider != OpenAI || j.BaseURL == "" || local(j.BaseURL) {
		return ""
	}
	u, err := url.Parse(j.BaseURL)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if host == "openai.com" || strings.HasSuffix(host, ".openai.com") {
		return ""
	}
	return host
}

func readKeyFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("read the judge's key from the file %s: %w; judge.api_key_file must name a file with the key alone", name, cause(err))
	}
	defer f.Close() //nolint:errcheck // it is only read
	b, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return "", fmt.Errorf("read the judge's key from the file %s: %w; judge.api_key_file must name a file with the key alone", name, cause(err))
	}
	if len(b) > maxKeyFile {
		return "", fmt.Errorf("read the judge's key from the file %s: it is larger than %d bytes, so it holds no key; judge.api_key_file must name a file with the key alone", name, maxKeyFile)
	}
	return string(b), nil
}

// trimKey takes off what pasting leaves around a key.
func trimKey(s string) string {
	around := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune("\"'`“”‘’„", r)
	}
	s = strings.TrimFunc(s, around)
	if len(s) > 7 && strings.EqualFold(s[:7], "bearer ") {
		s = strings.TrimFunc(s[7:], around)
	}
	return s
}

// local reports whether an address is one of this machine or network, where
// servers commonly need no key.
func local(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, end := range []string{".localhost", ".local", ".internal", ".lan"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}
