package text

import "sync"

// languages returns the languages by their tags.
var languages = sync.OnceValue(func() map[string]*language {
	known := map[string]*language{}
	for _, l := range []*language{english(), britishEnglish(), german(), spanish(), french(), italian(), portuguese(), dutch()} {
		known[l.tag] = l
	}
	return known
})

// fallback returns the language for unknown tags. It has no numbers and names signs in English.
var fallback = sync.OnceValue(func() *language {
	l := english()
	return &language{
		tag: "und", words: l.words, signs: l.signs, currencies: l.currencies, numbers: numberFormat{decimal: "."},
	}
})
