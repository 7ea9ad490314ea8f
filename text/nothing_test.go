package text_test

import (
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/text"
)

func TestSaysNothing(t *testing.T) {
	for _, s := range []string{
		"", " \n\t", "...", "---", "***", "?!", "\u200b\u2060\ufeff", "\x00\x01", "[1]", "[1][2], [3-5]", "[^1^]", "【4:0†source】.", "🙂", "🤷‍♂️ 🤷🏽", "🇩🇪",
		"<br>", "<p></p>", "<P>\n<BR/></P>", "&nbsp;", "```\n```", "```json\n\n```", "```markdown", "~~~\n~~~", "## ", "> ", "| | |\n|---|---|", "©", "``", "**[2]**", "…", "。", "「」",
	} {
		if !text.SaysNothing(s) {
			t.Errorf("%q says something", s)
		}
	}
	for _, s := range []string{
		"a", "5", "No.", "✅", "❌ 🙂", "👍🏽", "∞", "€", "[plan.pdf]", "[1, 2, 3]", "⠍⠁⠗⠅", "㈱", "🄰", "[a]", "(1)", "`<br>`", "<b>x</b>", "<svg>", "```\nx\n```", "```yes```", "```no\n```", "[1] is", "½", "Ⅳ", "零", "1️⃣", "https://example.org",
	} {
		if text.SaysNothing(s) {
			t.Errorf("%q says nothing", s)
		}
	}
}

func TestCopiesQuestion(t *testing.T) {
	const q = "What is the capital of France?"
	tests := []struct {
		question, response string
		want               bool
	}{
		{q, q, true},
		{q, "what is  the capital\nof FRANCE", true},
		{q, "**What is the capital of France?** 🤔", true},
		{q, "> What is the capital of France?", true},
		{q, "\"Ｗｈａｔ is the capital of France？\"", true},
		{q, "What is the cap\u200bital of France?\u202c", true},
		{q, q + "\n\n" + q + " " + q, true},
		{q, "Q: " + q + "\nA:", true},
		{q, "Question: " + q + " Answer:", true},
		{q, "**Question:** " + q + "\n\n**Answer:** ", true},
		{q, "User: " + q, true},
		{"Question: " + q, q, true},
		{"Question: " + q, "Question: " + q, true},
		{q, "Q: " + q + " A: Paris", false},
		{q, q + " Paris.", false},
		{q, "The capital of France?", false},
		{q, "France is the capital of what?", false},
		{q, "Paris", false},
		{q, "", false},
		{q, "?", false},
		{"", "", false},
		{"???", "???", false},
		{"Hello", "Hello!", false},
		{"Good morning", "Good morning!", false},
		{"Why?", "Why?", true},
		{"Tell me the capital", "tell me the capital.", true},
		{"Is 5 > 3 = true?", "Is 5 > 3 true?", false},
		{"Which is older, C or C++?", "Which is older, C or C?", false},
		{"How much is $5?", "How much is €5?", false},
		{"法国的首都是哪里？", "法国的首都是哪里", true},
		{"法国的首都是哪里？", "法国的首都是哪里？法国的首都是哪里？", true},
		{"法国的首都是哪里？", "问题：法国的首都是哪里？\n答案：", true},
		{"法国的首都是哪里？", "法国的首都是巴黎。", false},
		{"ما هي عاصمة فرنسا؟", "ما هي عاصمة فرنسا", true},
		{"Cafe\u0301 oder Tee heute?", "CAFÉ ODER TEE HEUTE", true},
		{"Is this vitamin", "Is this vitamin A", false},
		{"Is this vitamin", "Is this vitamin A:", true},
	}
	for _, tt := range tests {
		if got := text.CopiesQuestion(tt.question, tt.response); got != tt.want {
			t.Errorf("CopiesQuestion(%q, %q) = %t", tt.question, tt.response, got)
		}
	}
}

// FuzzCopiesQuestion: any question of three words is copied by itself, however
// often and however it is dressed, and never by itself with a word more.
func FuzzCopiesQuestion(f *testing.F) {
	f.Add(" how Much is\t1,000?")
	f.Add("京都 は Q: \xff a: ½+")
	f.Fuzz(func(t *testing.T, s string) {
		q := s + " who said so?"
		for _, r := range []string{q, " " + strings.ToUpper(strings.ToLower(q)), q + "\n" + q, "«" + q + "» 🙂"} {
			if strings.ContainsAny(s, ":：") && r != q { // it may hold labels of its own
				continue
			}
			if !text.CopiesQuestion(q, r) && isPlain(s) {
				t.Errorf("%q is not seen as a copy of %q", r, q)
			}
		}
		if text.CopiesQuestion(q, q+" paris") {
			t.Errorf("%q with an answer behind it is taken for a copy", q)
		}
		text.SaysNothing(s)
	})
}

// isPlain leaves out what Unicode's case mappings don't give back, and what
// joins to the text before it.
func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r > 0x24f && r < 0x3000 || r > 0xffff || r == 0xfffd || r == 0xdf || r == 0x130 || r == 0x131 || r == 0x149
	}) && !strings.ContainsAny(s, "0123456789")
}
