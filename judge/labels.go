package judge

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// meaning is what a verdict's word says, apart from any list of labels.
type meaning int

const (
	noMeaning meaning = iota
	yes
	no
	against // it is contradicted
	unsure  // the judge did not decide
)

// plainWords answer any question that can be answered with yes or no. A space
// in a phrase is written as _.
var plainWords = map[meaning]string{
	yes: `yes y yeah yep true 1 ✓ ✔ ✅ ☑ 👍 ja jawohl wahr oui vrai sí si sì verdadero cierto sim verdadeiro vero да верно правда так
		是 是的 对 對 真 はい 真実 예 네 참 evet doğru tak prawda ano pravda igen igaz ναι αληθές نعم صحيح כן נכון हाँ हां सही ya benar có đúng ใช่ จริง
		kyllä jah waar sant adevărat da бале так_да`,
	no: `no n nope false 0 ✗ ✘ ❌ ✖ 👎 nein falsch non faux falso não nao нет неверно ложь ні
		否 不 不是 不对 不對 假 いいえ 偽 아니요 아니오 아니 거짓 hayır yanlış nie fałsz ne nepravda nem hamis όχι ψευδές لا خطأ לא नहीं गलत tidak bukan salah không sai ไม่ ไม่ใช่ เท็จ
		ei nee niet_waar onwaar nej falskt nei usant nu fals`,
}

// unsureWords are said by a judge that did not decide.
const unsureWords = `idk i_don't_know don't_know dont_know do_not_know unknown unclear unsure not_sure uncertain undecided undetermined indeterminate inconclusive ambiguous
	maybe perhaps possibly neutral na n/a none_of_the_above not_applicable cannot_say can't_say cannot_tell can't_tell cannot_determine can't_determine cannot_be_determined
	unverifiable not_verifiable cannot_verify cannot_be_verified insufficient insufficient_information insufficient_evidence not_enough_information not_enough_info
	partial partially partly partially_supported partly_supported mixed
	unklar unbekannt weiß_nicht weiss_nicht vielleicht teilweise inconnu incertain peut-être partiellement desconocido incierto quizás parcialmente desconhecido talvez sconosciuto forse parzialmente
	неизвестно неясно частично возможно 不知道 未知 不确定 不確定 部分 部分支持 わからない 不明 部分的 모름 알_수_없음 부분적 bilinmiyor kısmen nieznane częściowo neznámé onbekend gedeeltelijk okänt`

// supportWords speak of evidence and use. They count only where the labels do
// so too: in another list "supported" may mean anything.
var supportWords = map[meaning]string{
	yes: `supported fully_supported supports is_supported support entailed entailment entails grounded is_grounded faithful attributable attributed is_attributable found stated confirmed verified
		useful is_useful helpful relevant is_relevant pass passed correct
		unterstützt gestützt belegt nützlich relevant hilfreich zuordenbar gefunden soutenu étayé utile pertinent respaldado apoyado soportado útil relevante suportado apoiado supportato rilevante
		поддерживается подтверждено подтверждается полезно релевантно 支持 有支持 得到支持 有用 相关 相關 可归因 支持されている サポートされている 裏付けあり 有用 関連 지지됨 뒷받침됨 유용함 관련 destekleniyor faydalı ilgili wspierane przydatne ondersteund nuttig relevant`,
	no: `unsupported not_supported isn't_supported is_not_supported non_supported unfounded ungrounded not_grounded not_entailed unfaithful unattributable not_attributable non_attributable not_attributed
		not_found notfound missing absent not_stated not_mentioned unmentioned not_present not_in_context not_in_contexts not_in_the_context not_in_the_contexts no_evidence unconfirmed not_confirmed unverified not_verified hallucinated hallucination
		not_useful useless unuseful not_helpful unhelpful irrelevant not_relevant non_relevant fail failed incorrect
		nicht_unterstützt nicht_gestützt nicht_belegt unbelegt nicht_gefunden nicht_nützlich nutzlos irrelevant nicht_zuordenbar non_soutenu non_étayé introuvable inutile non_pertinent no_respaldado no_apoyado no_soportado no_encontrado inútil irrelevante não_suportado não_encontrado não_útil non_supportato non_trovato irrilevante
		не_поддерживается не_подтверждено не_найдено бесполезно нерелевантно 不支持 未支持 无支持 未找到 没有找到 未提及 無用 无用 不相关 不相關 不可归因 支持されていない サポートされていない 裏付けなし 見つからない 無関係 지지되지_않음 뒷받침되지_않음 찾을_수_없음 관련_없음 desteklenmiyor bulunamadı faydasız ilgisiz niewspierane nie_znaleziono nieprzydatne niet_ondersteund niet_gevonden`,
	against: `contradicted contradicts contradiction contradictory contradicting is_contradicted refuted refutes denied disproved disproven conflicting conflicts
		widersprochen widerspruch widerlegt contredit contradiction contradicho refutado contradicción contraditado contraddetto противоречит опровергнуто 矛盾 相矛盾 反驳 矛盾している 모순 모순됨 çelişiyor sprzeczne tegengesproken`,
}

var (
	plainTable   = tableOf(plainWords)
	supportTable = tableOf(supportWords)
	unsureTable  = tableOf(map[meaning]string{unsure: unsureWords})
)

func tableOf(words map[meaning]string) map[string]meaning {
	table := map[string]meaning{}
	for m, list := range words {
		for _, w := range strings.Fields(list) {
			table[spelling(w)] = m
		}
	}
	return table
}

// spelling reduces a word to what its spellings have in common: no case, no
// quotes, stars and closing marks around it, no space, underscore, hyphen or
// apostrophe inside it, and one form of each character. A minus sign in front
// of a number and a point inside it stay, and so does a question mark: "yes?" is
// not "yes".
func spelling(s string) string {
	s = strings.ToLower(norm.NFKC.String(s))
	s = strings.TrimFunc(s, isBlank)
	s = strings.Trim(s, " \t\r\n\"'`*_()[]\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d")
	s = strings.TrimRight(s, " \t\r\n\"'`*_()[]\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d.,;:!\u3002\u3001\ufe0f")
	if whole.MatchString(s) {
		s, _, _ = strings.Cut(s, ".")
	}
	if isNumber(s) || strings.HasPrefix(s, "-") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '\'' || r == '\u2019' || r == '\u2010' || r == '\u2011' || r == '\ufe0f' || isBlank(r) {
			return -1
		}
		return r
	}, s)
}

// labeler maps a judge's words to the labels of one ask.
type labeler struct {
	labels []string
	// spelt are the spellings of the labels.
	spelt []string
	// support reports that the labels speak of evidence or use, so that other
	// words that do so have a meaning.
	support bool
}

func newLabeler(labels []string) labeler {
	l := labeler{labels: labels}
	for _, label := range labels {
		l.spelt = append(l.spelt, spelling(label))
	}
	l.support = supportTable[l.spelt[0]] == yes && supportTable[l.spelt[len(labels)-1]] == no
	return l
}

// label returns the label that the word stands for. It reports unsure words by
// themselves, and false for a word that stands for none of the labels.
func (l labeler) label(word string) (label string, undecided, ok bool) {
	if slices.Contains(l.labels, word) {
		return word, false, true
	}
	key := spelling(word)
	if i := slices.Index(l.spelt, key); i >= 0 {
		return l.labels[i], false, true
	}
	m := plainTable[key]
	if m == noMeaning && l.support {
		m = supportTable[key]
	}
	if m == noMeaning {
		m = unsureTable[key]
	}
	switch m {
	case yes:
		return l.labels[0], false, true
	case no:
		return l.labels[len(l.labels)-1], false, true
	case against:
		return l.whose(isAgainst, l.labels[len(l.labels)-1]), false, true
	case unsure:
		label := l.whose(isUndecided, "")
		return label, true, label != ""
	}
	return "", false, false
}

// whose returns the first label for which is holds, or other.
func (l labeler) whose(is func(string) bool, other string) string {
	if i := slices.IndexFunc(l.labels, is); i >= 0 {
		return l.labels[i]
	}
	return other
}

func isAgainst(label string) bool { return supportTable[spelling(label)] == against }

// isUndecided reports a label that also says what a judge without a decision
// says: that the contexts don't settle it.
func isUndecided(label string) bool {
	return label == NotFound || unsureTable[spelling(label)] == unsure
}
