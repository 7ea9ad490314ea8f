package judge

import (
	"strings"
	"unicode/utf8"

	"github.com/ragjudge/ragjudge/text"
)

// lexicalClaims splits a text into claims: its sentences and list items without
// citation marks and markup. What asserts nothing is left out: questions,
// greetings, offers, headings, lead-ins that end in a colon, and "I don't know"
// in its many forms. A sentence that joins several statements stays one claim.
func lexicalClaims(s string) []string {
	claims := []string{}
	for _, sentence := range text.Sentences(text.StripCitations(s)) {
		if strings.HasPrefix(sentence, "#") {
			continue
		}
		c := strings.TrimSpace(emphasis.Replace(dropMarker(sentence)))
		if text.Wordless(c) || leadIn(c) || noncommittal(c) || courtesy(c) {
			continue
		}
		claims = append(claims, c)
	}
	return claims
}

var emphasis = strings.NewReplacer("**", "", "__", "", "`", "")

// dropMarker takes the bullet or number off a list item.
func dropMarker(s string) string {
	for _, bullet := range []string{"- ", "* ", "+ ", "• ", "– ", "> ", "| "} {
		if rest, ok := strings.CutPrefix(s, bullet); ok {
			return rest
		}
	}
	i := 0
	for i < len(s) && i < 3 && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i > 0 && i+1 < len(s) && (s[i] == '.' || s[i] == ')') && s[i+1] == ' ' {
		return s[i+2:]
	}
	return s
}

// leadIn reports whether the sentence asks or only introduces what follows.
func leadIn(s string) bool {
	s = strings.TrimRight(s, "\"'”’»)*_ ")
	r, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune("?？؟:：", r)
}

// courtesy reports whether the sentence is a greeting, an offer or thanks and
// not much more.
func courtesy(s string) bool {
	folded := text.Fold(s)
	for _, start := range courtesies {
		rest, ok := strings.CutPrefix(folded, start)
		if ok && len(text.AppendWords(nil, rest)) <= 8 && wordBreak(rest) {
			return true
		}
	}
	return false
}

func wordBreak(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || strings.ContainsRune(" ,.!;:-–—…\n！，。", r)
}

var courtesies = []string{
	"hello", "hi", "hey", "dear", "good morning", "good afternoon", "good evening", "thanks", "thank you",
	"you're welcome", "you are welcome", "sure", "certainly", "of course", "great question", "good question",
	"i hope this helps", "i hope that helps", "hope this helps", "let me know", "please let me know", "feel free",
	"please feel free", "happy to help", "i'm happy to help", "i am happy to help",
	"hallo", "guten tag", "bonjour", "merci", "hola", "gracias", "ciao", "grazie", "olá", "obrigado", "你好", "您好", "こんにちは",
}

// noncommittal reports whether the sentence says that there is no answer.
func noncommittal(s string) bool {
	folded := strings.ReplaceAll(text.Fold(s), "’", "'")
	for _, start := range noAnswerStarts {
		if strings.HasPrefix(folded, start) {
			return true
		}
	}
	for _, part := range noAnswerParts {
		if strings.Contains(folded, part) {
			return true
		}
	}
	return false
}

var noAnswerStarts = []string{
	"i don't know", "i do not know", "i'm not sure", "i am not sure", "i'm unsure", "not sure", "no idea", "i have no idea",
	"i can't answer", "i cannot answer", "i'm unable to", "i am unable to", "i can't help", "i cannot help",
	"i can't provide", "i cannot provide", "i can't assist", "i cannot assist", "i couldn't find", "i could not find",
	"i can't find", "i cannot find", "i don't have", "i do not have", "i'm sorry", "i am sorry", "sorry, ", "as an ai",
	"there is no information", "there's no information", "no information", "unknown.", "n/a",
	"ich weiß nicht", "ich weiß es nicht", "das weiß ich nicht", "keine ahnung", "je ne sais pas", "je l'ignore",
	"no lo sé", "no sé", "non lo so", "não sei", "я не знаю", "не знаю", "我不知道", "不知道", "わかりません", "分かりません", "모르",
}

var noAnswerParts = []string{
	"context does not", "context doesn't", "contexts do not", "contexts don't",
	"provided information does not", "provided sources do not", "provided sources don't", "provided documents do not",
	"provided text does not", "passage does not", "passages do not", "documents do not mention", "sources do not mention",
	"sources do not provide", "sources don't provide", "not mentioned in the provided", "not specified in the provided",
	"not provided in the", "not mentioned in the given", "not specified in the given", "not enough information", "insufficient information",
	"don't have enough information", "do not have enough information", "don't have information", "do not have information",
	"cannot be determined from", "can't be determined from",
}
