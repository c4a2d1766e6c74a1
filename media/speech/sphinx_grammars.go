package speech

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	phrasesMost = 500
	phraseWords = 12
	knownMost   = 20_000 // words whose pronunciation is cached
)

// phones are the phones of the English model, without silence and noises.
const phones = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"

// Probabilities of one phone in a phone loop. In sentences, phones cost more than in the loop that words are compared
// with. Otherwise the phones that are closest to a phrase would win over the phrase.
const (
	phoneCost         = 0.1
	sentencePhoneCost = 0.05
)

// Short phrases are found in nearly any sentence. In sentences, phrases of at most shortPhones phones, such as "billing",
// are less probable than longer ones. Those of at most veryShortPhones, such as "yes", count at the beginning only.
const (
	shortPhones     = 6
	veryShortPhones = 4
	shortCost       = 0.01
)

// grammar is a finite state grammar and the dictionary of its words, in the formats of pocketsphinx.
type grammar struct{ fsg, dict string }

// grammarBuilder collects the arcs of a grammar. State 0 is the first, state 1 the last.
type grammarBuilder struct {
	states int
	arcs   strings.Builder
}

// arc adds a transition between states. The word may be empty.
func (b *grammarBuilder) arc(from, to int, probability float64, word string) {
	fmt.Fprintf(&b.arcs, "TRANSITION %d %d %g %s\n", from, to, probability, word)
}

// path adds the words of a phrase between two states. The first has the probability, the others follow with certainty.
func (b *grammarBuilder) path(from, to int, probability float64, words []string) {
	for i, w := range words {
		next := to
		if i < len(words)-1 {
			next = b.states
			b.states++
		}
		b.arc(from, next, probability, w)
		from, probability = next, 1
	}
}

// loop adds a phone loop to a state.
func (b *grammarBuilder) loop(state int, probability float64) {
	for p := range strings.FieldsSeq(phones) {
		b.arc(state, state, probability, phoneWord(p))
	}
}

func (b *grammarBuilder) fsg() string {
	return fmt.Sprintf("FSG_BEGIN <words>\nNUM_STATES %d\nSTART_STATE 0\nFINAL_STATE 1\n%sFSG_END\n", b.states, b.arcs.String())
}

// phoneWord returns the word of a phone in a phone loop. It begins with "xx", unlike words of phrases.
func phoneWord(phone string) string { return "xx" + strings.ToLower(phone) }

// isPhoneWord reports whether phoneWord returned the word.
func isPhoneWord(word string) bool { return strings.HasPrefix(word, phoneWord("")) }

// phoneWords returns the dictionary of the words of phones.
func phoneWords() string {
	var lines strings.Builder
	for p := range strings.FieldsSeq(phones) {
		fmt.Fprintf(&lines, "%s %s\n", phoneWord(p), p)
	}
	return lines.String()
}

// phoneLoop returns a grammar that accepts any sequence of phones.
func phoneLoop() grammar {
	b := grammarBuilder{states: 3}
	b.arc(0, 2, 1, "")
	b.loop(2, phoneCost)
	b.arc(2, 1, 1, "")
	return grammar{b.fsg(), phoneWords()}
}

// pronouncedPhrases are phrases whose words are all in the model's dictionary.
type pronouncedPhrases struct {
	phrases [][]string
	sounds  map[string][]string // pronunciations by word
}

// pronounce splits phrases into words and looks up their pronunciations. It omits phrases with words that are not in the
// model's dictionary.
func (s *Sphinx) pronounce(phrases []string) (p pronouncedPhrases, err error) {
	var all [][]string
	needed := make(map[string]bool)
	for _, phrase := range phrases[:min(len(phrases), phrasesMost)] {
		words := strings.Fields(strings.ToLower(phrase))
		if len(words) == 0 || len(words) > phraseWords {
			continue
		}
		all = append(all, words)
		for _, w := range words {
			needed[w] = true
		}
	}
	if p.sounds, err = s.sounds(needed); err != nil {
		return p, err
	}
	for _, words := range all {
		if !slices.ContainsFunc(words, func(w string) bool { return len(p.sounds[w]) == 0 }) {
			p.phrases = append(p.phrases, words)
		}
	}
	return p, nil
}

// dictionary returns the pronunciations of the words as lines of a pocketsphinx dictionary. With first, it has those of
// words at the beginning of speech too.
func (p *pronouncedPhrases) dictionary(first bool) string {
	var lines strings.Builder
	used := make(map[string]bool)
	for _, words := range p.phrases {
		for _, w := range words {
			if used[w] {
				continue
			}
			used[w] = true
			sounds := p.sounds[w]
			if first {
				sounds = slices.Concat(sounds, withoutFirstS(sounds))
			}
			for n, sound := range sounds {
				if n == 0 {
					fmt.Fprintf(&lines, "%s %s\n", w, sound)
				} else {
					fmt.Fprintf(&lines, "%s(%d) %s\n", w, n+1, sound)
				}
			}
		}
	}
	return lines.String()
}

// phoneCount returns the number of phones of a phrase.
func (p *pronouncedPhrases) phoneCount(words []string) (n int) {
	for _, w := range words {
		n += strings.Count(p.sounds[w][0], " ") + 1
	}
	return n
}

// losesFirstS reports whether the first word also has pronunciations without its S.
func (p *pronouncedPhrases) losesFirstS(words []string) bool {
	return len(words) > 0 && len(withoutFirstS(p.sounds[words[0]])) > 0
}

// phrasesOnly returns a grammar that accepts one of the phrases and nothing else.
func (p *pronouncedPhrases) phrasesOnly() grammar {
	b := grammarBuilder{states: 2}
	for _, words := range p.phrases {
		b.path(0, 1, 1, words)
	}
	return grammar{b.fsg(), p.dictionary(true)}
}

// phrasesWithinSpeech returns a grammar that accepts one of the phrases with any phones before and behind it, or phones only.
func (p *pronouncedPhrases) phrasesWithinSpeech() grammar {
	const before, behind, anywhere, beginning = 2, 3, 4, 5
	b := grammarBuilder{states: 6}
	b.arc(0, before, 1, "")
	b.loop(before, sentencePhoneCost)
	b.arc(before, anywhere, 1, "")
	b.arc(0, beginning, shortCost, "")
	b.loop(behind, sentencePhoneCost)
	b.arc(behind, 1, 1, "")
	for _, words := range p.phrases {
		switch n := p.phoneCount(words); {
		case n <= veryShortPhones:
			b.path(beginning, behind, 1, words)
		case n <= shortPhones:
			b.path(anywhere, behind, shortCost, words)
		default:
			b.path(anywhere, behind, 1, words)
		}
	}
	return grammar{b.fsg(), p.dictionary(false) + phoneWords()}
}

// withoutFirstS returns the pronunciations that begin with S before P, T or K, without the S: telephone audio lacks the
// frequencies of an S, and at the beginning of speech nothing else is left of it. A stop behind an S sounds like B, D or G.
// The open vowel AA, which is short in such words, also sounds like AO.
func withoutFirstS(sounds []string) []string {
	var shorter []string
	for _, sound := range sounds {
		for _, c := range [][2]string{{"P ", "B "}, {"T ", "D "}, {"K ", "G "}} {
			stop, voiced := c[0], c[1]
			if rest, ok := strings.CutPrefix(sound, "S "+stop); ok {
				shorter = append(shorter, voiced+rest, stop+rest)
				if rounded := strings.Replace(rest, "AA", "AO", 1); rounded != rest {
					shorter = append(shorter, voiced+rounded)
				}
			}
		}
	}
	return shorter
}

// withoutCodaR returns the pronunciations that differ in British English, where an R is silent unless a vowel follows.
func withoutCodaR(sounds []string) (british []string) {
	for _, sound := range sounds {
		all := strings.Fields(sound)
		var spoken []string
		for i, p := range all {
			last := i == len(all)-1
			switch {
			case p == "R" && (last || !strings.ContainsAny(all[i+1][:1], "AEIOU")):
			case p == "ER" && last:
				spoken = append(spoken, "AH")
			default:
				spoken = append(spoken, p)
			}
		}
		if variant := strings.Join(spoken, " "); variant != sound && len(spoken) > 1 {
			british = append(british, variant)
		}
	}
	return british
}

// sounds returns the pronunciations of words from the model's dictionary, whose lines are "word(n) P H".
func (s *Sphinx) sounds(words map[string]bool) (map[string][]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string][]string, len(words))
	missing := make(map[string]bool)
	for w := range words {
		sounds, known := s.known[w]
		switch {
		case known:
			out[w] = sounds
		case sphinxWord.MatchString(w):
			missing[w] = true
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	f, err := os.Open(filepath.Join(s.model, "cmudict-en-us.dict"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecognizerNotInstalled, err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, sound, ok := strings.Cut(lines.Text(), " ")
		word, _, _ := strings.Cut(name, "(")
		if ok && missing[word] {
			out[word] = append(out[word], strings.TrimSpace(sound))
		}
	}
	for word, sounds := range out {
		if missing[word] {
			out[word] = slices.Concat(sounds, withoutCodaR(sounds))
		}
	}
	if len(s.known)+len(missing) > knownMost {
		clear(s.known)
	}
	for w := range missing {
		s.known[w] = out[w]
	}
	return out, nil
}
