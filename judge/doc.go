// Package judge asks a language model for claims, verdicts and ratings, and
// takes only what it really said.
//
// An Ask is rendered through a prompt template (package prompts), sent through
// an llm.Client, and decoded. The package promises three things:
//
//   - Sample text is data. It stands in a fence whose name it can't know, and
//     look-alikes of the fence inside it are defused; see ParseFenced.
//   - A verdict that comes out was in the reply. Fences, thinking tags, Python
//     literals and the like are understood, but a reply that was cut, that
//     contradicts itself, or that says anything outside the labels or the scale
//     gives no verdict. Prose is never a verdict.
//   - Every item is answered exactly once, or the Ask ends in an error. What is
//     missing is asked for once more; what can't be used is told to the judge
//     once; then an *UnusableError keeps the reply for people to read.
package judge
