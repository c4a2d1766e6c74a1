package text

import (
	"sync"

	"github.com/callboard/callboard/media/speech/text/grammar"
	"github.com/callboard/callboard/media/speech/text/languages"
)

// knownLanguages returns the languages by their tags.
var knownLanguages = sync.OnceValue(func() map[string]*grammar.Language {
	known := map[string]*grammar.Language{}
	for _, l := range []*grammar.Language{languages.English(), languages.BritishEnglish(), languages.German(), languages.Spanish(), languages.French(), languages.Italian(), languages.Portuguese(), languages.Dutch()} {
		known[l.Tag] = l
	}
	return known
})

// fallback returns the language for unknown tags. It has no numbers, and the names of signs and the abbreviations that end
// no sentence are English.
var fallback = sync.OnceValue(func() *grammar.Language {
	l := languages.English()
	return &grammar.Language{
		Tag: "und", Words: l.Words, Signs: l.Signs, Currencies: l.Currencies, Numbers: grammar.NumberFormat{Decimal: "."},
		Abbreviations: l.Abbreviations, ShortMonths: l.ShortMonths, SentenceStarts: l.SentenceStarts,
	}
})
