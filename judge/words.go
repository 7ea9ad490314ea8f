package judge

// This file lists the words that judges use for verdicts, in the languages in
// which they are asked. A word counts only if it is the whole verdict, so that
// a negation in front of it or a remark behind it makes it another word. A space
// in a phrase is written as _; spelling says what else makes no difference.

// plainWords answer any question that can be answered with yes or no.
var plainWords = map[meaning]string{
	yes: `yes y yeah yep true 1 ✓ ✔ ✅ ☑ 👍 ja jawohl wahr oui vrai sí si sì verdadero cierto sim verdadeiro vero да верно правда так
		是 是的 对 對 真 はい 真実 正しい 예 네 참 맞음 evet doğru tak prawda ano pravda igen igaz ναι αληθές نعم صحيح כן נכון हाँ हां सही सत्य ya benar có đúng ใช่ จริง
		kyllä jah waar juist sant adevărat da бале так_да`,
	no: `no n nope false 0 ✗ ✘ ❌ ✖ ❎ 👎 🚫 nein falsch non faux falso não nao нет неверно ложь ні
		否 不 不是 不对 不對 假 いいえ 偽 正しくない 아니요 아니오 아니 거짓 틀림 hayır yanlış nie fałsz ne nepravda nem hamis όχι ψευδές لا خطأ לא नहीं गलत असत्य tidak bukan salah không sai ไม่ ไม่ใช่ เท็จ
		ei nee niet_waar onwaar onjuist nej falskt nei usant nu fals`,
}

// unsureWords are said by a judge that did not decide.
const unsureWords = `idk i_don't_know don't_know dont_know do_not_know unknown unclear unsure not_sure uncertain undecided undetermined indeterminate inconclusive ambiguous
	maybe perhaps possibly neutral na n/a none_of_the_above not_applicable cannot_say can't_say cannot_tell can't_tell cannot_determine can't_determine cannot_be_determined
	unverifiable not_verifiable cannot_verify cannot_be_verified insufficient insufficient_information insufficient_evidence not_enough_information not_enough_info
	partial partially partly partially_supported partly_supported partially_true partly_true half_true mixed borderline yes_and_no somewhat
	unklar unbekannt weiß_nicht weiss_nicht vielleicht teilweise teils keine_angabe nicht_entscheidbar inconnu incertain je_ne_sais_pas peut-être partiellement indéterminé
	desconocido incierto no_sé no_lo_sé quizás quizá parcialmente parcial indeterminado desconhecido incerto não_sei talvez sconosciuto incerto non_so forse parzialmente
	неизвестно неясно не_знаю возможно частично 不知道 未知 不确定 不確定 不清楚 无法判断 無法判斷 部分 部分支持 わからない 分からない 不明 判断できない 部分的 모름 모르겠음 알_수_없음 불명확 부분적
	bilinmiyor bilmiyorum belirsiz kısmen belki nieznane nie_wiem niejasne częściowo może neznámé onbekend weet_niet onduidelijk gedeeltelijk misschien okänt
	غير_معروف غير_واضح لا_أعرف جزئيا جزئيًا ربما अज्ञात अस्पष्ट पता_नहीं आंशिक शायद`

// supportWords speak of evidence and use. They count only where the labels do
// so too: in another list "supported" may mean anything.
var supportWords = map[meaning]string{
	yes: `supported fully_supported supports is_supported support entailed entailment entails grounded is_grounded faithful attributable attributed is_attributable found stated confirmed verified
		useful is_useful helpful relevant is_relevant pass passed correct
		unterstützt gestützt wird_gestützt belegt wird_belegt bestätigt nützlich hilfreich brauchbar zuordenbar zurückführbar gefunden
		soutenu soutenue étayé étayée appuyé appuyée confirmé confirmée supporté supportée utile attribuable pertinent pertinente
		respaldado respaldada apoyado apoyada sustentado sustentada soportado soportada confirmado confirmada útil es_útil atribuible relevante
		supportato supportata sostenuto sostenuta confermato confermata attribuibile rilevante suportado suportada apoiado apoiada atribuível
		ondersteund bevestigd onderbouwd nuttig bruikbaar toewijsbaar herleidbaar wspierane wspierany poparte poparty potwierdzone potwierdzony przydatne przydatny użyteczne użyteczny istotne istotny
		поддерживается поддержано подтверждено подтверждён подтвержден подтверждается обосновано полезно полезный полезен релевантно релевантный
		支持 有支持 得到支持 被支持 已支持 有依据 有依據 已证实 已證實 有用 有帮助 有幫助 相关 相關 可归因 可歸因 支持されている サポートされている サポートあり 裏付けあり 裏付けられている 根拠あり 役に立つ 有益 関連 関連あり
		지지됨 뒷받침됨 지원됨 근거_있음 입증됨 유용함 유용 도움됨 관련 관련_있음 مدعوم مدعومة مؤيد مؤكد مفيد مفيدة ذو_صلة قابل_للإسناد
		destekleniyor desteklenmiş desteklenen doğrulanmış doğrulandı faydalı yararlı kullanışlı ilgili समर्थित पुष्ट प्रमाणित उपयोगी प्रासंगिक`,
	no: `unsupported not_supported isn't_supported is_not_supported non_supported unfounded ungrounded not_grounded isn't_grounded not_entailed unfaithful not_faithful unattributable not_attributable isn't_attributable is_not_attributable non_attributable not_attributed
		not_found notfound isn't_found missing absent not_stated not_mentioned isn't_mentioned unmentioned not_present not_in_context not_in_contexts not_in_the_context not_in_the_contexts no_evidence unconfirmed not_confirmed unverified not_verified hallucinated hallucination
		doesn't_support does_not_support not_useful isn't_useful is_not_useful useless unuseful not_helpful isn't_helpful unhelpful irrelevant not_relevant isn't_relevant is_not_relevant non_relevant fail failed incorrect not_correct
		nicht_unterstützt nicht_gestützt wird_nicht_gestützt nicht_belegt wird_nicht_belegt unbelegt nicht_bestätigt nicht_gefunden nicht_enthalten nicht_erwähnt nicht_nützlich nicht_hilfreich nutzlos unbrauchbar nicht_relevant nicht_zuordenbar nicht_zurückführbar
		non_soutenu non_soutenue non_étayé non_étayée non_appuyé non_confirmé non_supporté non_trouvé non_trouvée pas_trouvé pas_soutenu non_mentionné introuvable inutile non_utile pas_utile non_pertinent non_pertinente non_attribuable
		no_respaldado no_respaldada no_apoyado no_sustentado no_soportado no_confirmado no_encontrado no_encontrada no_mencionado inútil no_útil no_es_útil no_relevante irrelevante no_atribuible
		não_suportado não_suportada não_apoiado não_confirmado não_encontrado não_encontrada não_mencionado não_útil não_relevante não_atribuível non_supportato non_supportata non_sostenuto non_confermato non_trovato non_trovata non_menzionato irrilevante non_rilevante non_attribuibile
		niet_ondersteund niet_bevestigd niet_onderbouwd niet_gevonden niet_nuttig nutteloos onbruikbaar niet_relevant niet_toewijsbaar niet_herleidbaar niewspierane nie_wspierane niepoparte nie_poparte niepotwierdzone nie_potwierdzone nie_znaleziono nieznalezione nieprzydatne nieprzydatny nieużyteczne bezużyteczne nieistotne
		не_поддерживается не_поддержано не_подтверждено не_подтверждается не_обосновано не_найдено не_упомянуто отсутствует бесполезно бесполезный не_полезно нерелевантно нерелевантный не_релевантно
		不支持 未支持 无支持 無支持 未得到支持 没有支持 不被支持 未找到 找不到 没有找到 沒有找到 未提及 未提到 无依据 無依據 没有依据 未证实 無用 无用 没用 没有用 没有帮助 不相关 不相關 无关 無關 不可归因 不可歸因
		支持されていない 支持されない サポートされていない サポートなし 裏付けなし 裏付けられていない 根拠なし 見つからない 見つかりません 記載なし 有用でない 有用ではない 役に立たない 無関係 関連なし
		지지되지_않음 뒷받침되지_않음 지원되지_않음 근거_없음 입증되지_않음 찾을_수_없음 발견되지_않음 언급_없음 유용하지_않음 쓸모없음 관련_없음
		غير_مدعوم غير_مدعومة غير_مؤيد غير_مؤكد غير_موجود لم_يتم_العثور_عليه غير_مفيد غير_مفيدة غير_ذي_صلة غير_قابل_للإسناد
		desteklenmiyor desteklenmemiş doğrulanmamış doğrulanmadı bulunamadı bulunmadı belirtilmemiş faydasız yararsız faydalı_değil yararlı_değil ilgisiz ilgili_değil
		असमर्थित समर्थित_नहीं पुष्ट_नहीं नहीं_मिला उपयोगी_नहीं अनुपयोगी अप्रासंगिक प्रासंगिक_नहीं`,
	against: `contradicted contradicts contradiction contradictory contradicting is_contradicted refuted refutes denied disproved disproven conflicting conflicts
		widersprochen wird_widersprochen widerspruch widersprüchlich widerlegt contredit contredite réfuté réfutée contradicho contradicha contradice refutado contradicción contradito contraditado contradiz contraddetto contraddetta contraddice smentito
		tegengesproken weerlegd in_tegenspraak sprzeczne sprzeczny zaprzeczone противоречит противоречие опровергнуто опровергается 矛盾 相矛盾 有矛盾 相悖 反驳 反駁 被反驳 矛盾している 矛盾する 모순 모순됨 반박됨
		متناقض متناقضة يتناقض مناقض çelişiyor çelişkili खंडित विरोधाभास विरोधाभासी`,
}
