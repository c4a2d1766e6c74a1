package pathway

import (
	"strings"

	"github.com/callboard/callboard/domain/wordlists"
)

// TurnCompleteness says whether the words of a caller who pauses are all that the caller wants to say.
type TurnCompleteness uint8

// The values of TurnCompleteness.
const (
	CompletenessUnknown TurnCompleteness = iota
	Complete                             // a short answer to the question, such as "yes" or an expected phrase
	Incomplete                           // the sentence, number or address goes on, such as "I would like to"
)

// longestCompleteAnswer is the number of words up to which an expected phrase with other words is complete.
const longestCompleteAnswer = 4

// Completeness judges the words that the caller has said so far in a turn. language is a BCP 47 tag.
func (s State) Completeness(text, language string) TurnCompleteness {
	said := wordlists.Normalize(text)
	if said == "" {
		return CompletenessUnknown
	}
	if n := s.graph.nodes[s.node]; n != nil && n.Length > 1 && acceptsSpeech(n) {
		if count := len(wordlists.SpokenDigits(said, language)); count > 0 && count < n.Length {
			return Incomplete
		} else if count >= n.Length {
			return Complete
		}
	}
	if wordlists.EndsUnfinished(text, language) {
		return Incomplete
	}
	if len(strings.Fields(said)) <= longestCompleteAnswer && s.Understands(text) {
		return Complete
	}
	return CompletenessUnknown
}
