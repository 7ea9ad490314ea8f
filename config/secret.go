package config

import (
	"fmt"
	"io"
	"log/slog"
)

const masked = "[secret]"

// Secret is a text that no output shows: it prints as "[secret]" under every
// verb of fmt, in JSON and in slog, also as a part of another value. The zero
// value is the empty text.
type Secret struct {
	// A pointer, because fmt walks over unexported fields of an outer struct
	// without asking for methods; what it shows then is an address.
	text *string
}

// NewSecret makes a secret of a text.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal returns the text itself. Only what sends it should call it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Format writes "[secret]", whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// String returns "[secret]".
func (s Secret) String() string { return masked }

// MarshalText returns "[secret]"; JSON and TOML use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// LogValue returns "[secret]".
func (s Secret) LogValue() slog.Value { return slog.StringValue(masked) }
