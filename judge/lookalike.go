package judge

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// This file finds what in the data could be taken for more than data: tags that
// look like the fence's own, and the marks by which chat templates tell who
// speaks. Some servers turn such a mark into the control token that it names,
// wherever it stands.

// defuse puts a space behind the bracket of each look-alike of our tags and of
// each mark of a chat template, and leaves everything else as it is, byte for
// byte.
func defuse(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		n := bracketAt(text, i)
		if n == 0 {
			i++
			continue
		}
		if rest := text[i+n:]; text[i] != '[' && lookAlike(rest) || chatToken(text[i:]) {
			b.WriteString(text[done:i+n] + " ")
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// bracketAt returns the length of what stands at i if it can be read as the
// bracket that opens a tag, 0 if it can't.
func bracketAt(s string, i int) int {
	switch c := s[i]; {
	case c == '<' || c == '[':
		return 1
	case c == '&':
		if len(s) >= i+4 && strings.EqualFold(s[i:i+4], "&lt;") {
			return 4
		}
	case c == 0xe2 || c == 0xe3 || c == 0xef:
		if r, size := utf8.DecodeRuneInString(s[i:]); strings.ContainsRune(openBrackets, r) {
			return size
		}
	}
	return 0
}

const (
	openBrackets  = "\uff1c\ufe64\u2039\u3008\u2329\u27e8\u226e\u276e\u2770"
	closeBrackets = ">\uff1e\ufe65\u203a\u3009\u232a\u27e9\u226f\u276f\u2771"
	slashes       = "/\\\uff0f\u2215\u2044\u29f8"
)

// The marks of the chat templates in use: <|name|>, in several kinds of bar, and
// those with names of their own.
var (
	barToken   = regexp.MustCompile(`^<[|\x{ff5c}][A-Za-z0-9_\x{2581}-][A-Za-z0-9_ \x{2581}-]{0,39}[|\x{ff5c}]>`)
	chatTokens = []string{
		"<s>", "</s>", "<<SYS>>", "<</SYS>>", "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "[INST]", "[/INST]",
		"[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
	}
)

func chatToken(s string) bool {
	if len(s) < len("<s>") || s[0] != '<' && s[0] != '[' {
		return false
	}
	if s[1] == '|' || s[1] == 0xef {
		return barToken.MatchString(s[:min(len(s), 64)])
	}
	for _, token := range chatTokens {
		if s[1] == token[1] && strings.HasPrefix(s, token) {
			return true
		}
	}
	return false
}

// lookAlike reports whether what follows a bracket makes it something that a
// model could take for one of our tags, whatever the nonce, the attributes, the
// case, the white space, visible or not, and the script of its letters.
func lookAlike(rest string) bool {
	if rest == "" || isWordByte(rest[0]) && !strings.ContainsRune("qrtciQRTCI", rune(rest[0])) {
		return false // none of our tags starts so
	}
	if plainLookAlike(rest) {
		return true
	}
	if near := rest[:min(len(rest), 48)]; isASCII(near) && !strings.ContainsAny(near, "\\&") {
		return false
	}
	return plainLookAlike(unmask(rest[:min(len(rest), maxLookAlike)]))
}

// maxLookAlike bounds how far a tag in disguise is read, in bytes.
const maxLookAlike = 200

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// plainLookAlike does that for tags in plain letters.
func plainLookAlike(rest string) bool {
	rest = strings.TrimLeftFunc(rest, isGap)
	rest = strings.TrimLeftFunc(strings.TrimPrefix(rest, "/"), isGap)
	for _, tag := range tagNames {
		if len(rest) <= len(tag) || !strings.EqualFold(rest[:len(tag)], tag) {
			continue
		}
		end := rest[len(tag):]
		r, _ := utf8.DecodeRuneInString(end)
		if r == '>' {
			return true
		}
		if r == '-' || r == '/' || isGap(r) {
			n := strings.IndexAny(end, "<>")
			return n >= 0 && end[n] == '>'
		}
	}
	return false
}

// unmask gives the letters, brackets and slashes of a text in their plain form,
// without what doesn't show and without the marks on letters.
func unmask(s string) string {
	s = strings.NewReplacer("&gt;", ">", "&GT;", ">").Replace(s)
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && r != '\\':
			b.WriteRune(r)
		case unicode.In(r, unicode.Cf, unicode.M, unicode.Cc):
		case strings.ContainsRune(closeBrackets, r):
			b.WriteByte('>')
		case strings.ContainsRune(slashes, r):
			b.WriteByte('/')
		case unicode.In(r, unicode.Z):
			b.WriteByte(' ')
		case unicode.In(r, unicode.Pd):
			b.WriteByte('-')
		default:
			if plain, ok := twins[unicode.ToLower(r)]; ok {
				b.WriteRune(plain)
				continue
			}
			for _, d := range norm.NFKD.String(string(r)) {
				if !unicode.In(d, unicode.M) {
					b.WriteRune(d)
				}
			}
		}
	}
	return b.String()
}

// twins are letters of other scripts that look like those of our tags.
var twins = map[rune]rune{
	'\u0430': 'a', '\u0441': 'c', '\u0435': 'e', '\u0456': 'i', '\u043c': 'm', '\u043f': 'n', '\u043e': 'o', '\u0440': 'p', '\u0455': 's', '\u0442': 't', '\u0445': 'x', '\u0501': 'd', '\u0433': 'r', '\u0475': 'v',
	'\u03b1': 'a', '\u03b5': 'e', '\u03b9': 'i', '\u03bd': 'v', '\u03bf': 'o', '\u03c1': 'p', '\u03c4': 't', '\u03c7': 'x', '\u03b7': 'n', '\u03f2': 'c', '\u0131': 'i', '\u0269': 'i', '\u0261': 'g', '\u0585': 'o', '\u0578': 'n', '\u057d': 'u',
}
