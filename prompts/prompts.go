package prompts

// Set is a set of templates.
type Set struct{}

// Default returns the built-in templates.
func Default() *Set { return &Set{} }
