package speech

import (
	"strings"
	"sync"
	"unicode"

	"github.com/rivo/uniseg"
)

// SpokenText tells which part of a text a caller has heard. It knows where the sentences are in the audio, and where the
// words are if the engine tells it. Safe for concurrent use.
type SpokenText struct {
	mu               sync.Mutex
	sentences        []spokenSentence
	samplesPerLetter float64 // of the last complete sentence
}

// spokenSentence is a sentence in the form in which it is spoken.
type spokenSentence struct {
	text     string
	begun    bool
	begin    int        // sample at which its audio begins
	samples  int        // length of its audio; valid if complete
	complete bool       // all of its audio exists
	words    []WordTime // relative to begin; empty: the engine does not tell the times of words
}

// usualSamplesPerLetter is the length of a letter at 15 letters per second, a usual rate of speech.
const usualSamplesPerLetter = 8000.0 / 15

// set replaces the sentences. Their audio has not begun.
func (t *SpokenText) set(sentences ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.samplesPerLetter, t.sentences = usualSamplesPerLetter, make([]spokenSentence, len(sentences))
	for i, s := range sentences {
		t.sentences[i].text = s
	}
}

// begin records that the audio of sentence i begins at a sample.
func (t *SpokenText) begin(i, sample int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sentences[i].begun, t.sentences[i].begin = true, sample
}

// discard records that the audio of sentence i is incomplete and will not be completed.
func (t *SpokenText) discard(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sentences[i] = spokenSentence{text: t.sentences[i].text}
}

// addWord records the time of a word of sentence i.
func (t *SpokenText) addWord(i int, w WordTime) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sentences[i].words = append(t.sentences[i].words, w)
}

// finish records that the audio of sentence i ends at a sample.
func (t *SpokenText) finish(i, sample int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.sentences[i]
	s.complete, s.samples = true, sample-s.begin
	if s.begun && s.text != "" {
		t.samplesPerLetter = float64(s.samples) / float64(len(s.text))
	}
}

// heardBytes returns how much of the sentence was spoken when the audio has played up to a sample. Without times of words
// it is in proportion to the audio. The length of incomplete audio is estimated.
func (s *spokenSentence) heardBytes(sample int, samplesPerLetter float64) int {
	played := sample - s.begin
	switch {
	case !s.begun:
		return 0
	case s.complete && played >= s.samples:
		return len(s.text)
	case len(s.words) > 0:
		heard := 0
		for _, w := range s.words {
			if w.AudioEnd <= played {
				heard = w.TextEnd
			}
		}
		return heard
	case s.complete:
		samplesPerLetter = float64(s.samples) / float64(len(s.text))
	}
	return min(int(float64(played)/samplesPerLetter), len(s.text))
}

// HeardPart returns the part of shown that was heard when the audio has played up to a sample: its first words. shown is
// the text in the form of the transcript. Its words are matched with those that were spoken, because numbers, markup and
// secret values are spoken in another form.
func (t *SpokenText) HeardPart(shown string, sample int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var spoken []string
	heard := 0
	for i := range t.sentences {
		s := &t.sentences[i]
		bytes := s.heardBytes(sample, t.samplesPerLetter)
		for _, w := range wordsOf(s.text) {
			if spoken = append(spoken, w.text); w.end <= bytes && heard == len(spoken)-1 {
				heard++
			}
		}
	}
	if heard == len(spoken) {
		return shown
	}
	words := wordsOf(shown)
	lastSpoken := matchWords(words, spoken)
	end := 0
	for i, w := range words {
		if lastSpoken[i] >= heard {
			break
		}
		end = w.end
	}
	punctuation := strings.IndexFunc(shown[end:], func(r rune) bool { return unicode.IsSpace(r) || isWordRune(r) })
	if end == 0 || punctuation < 0 {
		return shown[:end]
	}
	return shown[:end+punctuation]
}

// textWord is a word of a text in lower case.
type textWord struct {
	text string
	end  int // bytes of the text up to its end
}

// wordsOf returns the words of a text by the rules of Unicode (UAX 29).
func wordsOf(s string) []textWord {
	var words []textWord
	end, state := 0, -1
	for rest := s; rest != ""; {
		var piece string
		piece, rest, state = uniseg.FirstWordInString(rest, state)
		if end += len(piece); strings.ContainsFunc(piece, isWordRune) {
			words = append(words, textWord{strings.ToLower(piece), end})
		}
	}
	return words
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// matchWords returns for each word the index of the last spoken word that belongs to it. The words that both texts have
// in common, in this order, belong together (a longest common subsequence). Another word belongs to all spoken words before
// the next common one.
func matchWords(words []textWord, spoken []string) []int {
	last := make([]int, len(words))
	begin, end, spokenEnd := 0, len(words), len(spoken)
	for begin < min(end, spokenEnd) && words[begin].text == spoken[begin] {
		last[begin] = begin
		begin++
	}
	for end > begin && spokenEnd > begin && words[end-1].text == spoken[spokenEnd-1] {
		end, spokenEnd = end-1, spokenEnd-1
		last[end] = spokenEnd
	}
	// common[i][j] is the length of the longest common subsequence of words[begin+i:end] and spoken[begin+j:spokenEnd].
	common := make([][]uint16, end-begin+1)
	for i := range common {
		common[i] = make([]uint16, spokenEnd-begin+1)
	}
	for i := end - begin - 1; i >= 0; i-- {
		for j := spokenEnd - begin - 1; j >= 0; j-- {
			if words[begin+i].text == spoken[begin+j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	unmatched := begin // first word that waits for the next common one
	for i, j := 0, 0; i < end-begin; {
		switch {
		case j < spokenEnd-begin && words[begin+i].text == spoken[begin+j]:
			for ; unmatched < begin+i; unmatched++ {
				last[unmatched] = begin + j - 1
			}
			last[begin+i] = begin + j
			unmatched, i, j = unmatched+1, i+1, j+1
		case j < spokenEnd-begin && common[i][j+1] >= common[i+1][j]:
			j++
		default:
			i++
		}
	}
	for ; unmatched < end; unmatched++ {
		last[unmatched] = spokenEnd - 1
	}
	return last
}
