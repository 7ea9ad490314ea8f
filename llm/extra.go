package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// ownMembers are written by the client itself. What bounds the reply and its
// price, and what names it in a cache, must not stand there twice.
var ownMembers = []string{"model", "messages", "stream", "n", "response_format", "temperature", "max_tokens", "max_completion_tokens", "seed"}

// CanonicalExtra writes further members of a request's body in one spelling:
// sorted by name, without blanks. It is nil for none. Members that a Request
// has a field for, and those that would change how replies come ("stream", "n"),
// are an error, as is what JSON can't hold.
func CanonicalExtra(members map[string]any) (json.RawMessage, error) {
	if len(members) == 0 {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(ownMembers, name) {
			return nil, fmt.Errorf("%q is written by ragjudge and can't be set here", name)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(members); err != nil {
		return nil, fmt.Errorf("encode the extra members: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// withMembers puts members into a JSON object, over those of the same name, but
// never over the model and the chat.
func withMembers(object []byte, members map[string]json.RawMessage) ([]byte, error) {
	if len(members) == 0 {
		return object, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	for name, v := range members {
		if name != "model" && name != "messages" {
			all[name] = v
		}
	}
	return json.Marshal(all)
}
