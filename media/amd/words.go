package amd

import "strings"

// phrases returns typical words, in lower case with apostrophes as the only punctuation. The first match counts. The order
// matters, because a screening service can also mention a tone, a business can offer to take a message, and a voicemail can
// also offer keys.
func phrases() []classPhrases {
	return []classPhrases{
		{Unavailable, []string{
			"not in service", "no longer in service", "has been disconnected", "number you have dialed is not", "number you dialed is not",
			"cannot be completed as dialed", "is not a working number",
		}},
		{CallScreening, append([]string{
			"screening service", "screening assistant", "call is being screened", "state your name", "say your name and", "say your name after",
			"record your name and the reason", "record your name and reason for calling", "see if this person is available",
			"before i try to connect you", "please state your name", "go ahead and say your name", "using a screening service",
		}, connecting()...)},
		{Voicemail, []string{
			"leave a message", "leave your message", "leave me a message", "leave your name", "after the tone", "after the beep", "at the tone",
			"please leave a message", "leave a message after the tone", "leave your message after the tone", "leave your message after the beep",
			"leave your name and number", "record your message", "record your message at the tone", "speak after the beep",
			"voice mail", "voicemail", "voice message system", "mailbox", "can't come to the phone", "can't take your call", "cannot take your call", "unable to take your call",
			"not available right now", "not available at this time", "no one is available", "we will get back to you", "office is closed", "our office is closed", "try your call again later",
			"please call again later",
		}},
		{IVR, []string{
			"press one", "press two", "press 1", "press 2", "press zero", "press 0", "press pound", "following options", "main menu",
			"dial the extension", "dial your party", "party's extension", "for sales", "menu options have changed", "these options again",
		}},
		{Human, []string{
			"how can i help", "how can i help you", "how may i help", "how may i help you", "can i do for you", "how can i direct your call", "how may i direct your call",
		}},
	}
}

type classPhrases struct {
	class Class
	said  []string
}

// connecting returns words of announcements after which a person speaks.
func connecting() []string {
	return []string{
		"while we connect your call", "while i connect your call", "while i try to connect you", "please we are connecting you", "connecting your call",
		"please hold while", "your call is being connected", "while we try to reach",
	}
}

// shortestPhrase is the number of characters from which a phrase is certain enough to be recognized in any speech. Shorter ones,
// such as "at the tone", are also found in "yes, hello". Those that name a key may be shorter, because nothing is done about
// a menu.
const shortestPhrase = 16

// Phrases returns the typical words for a recognizer that recognizes expected phrases only.
func Phrases() (all []string) {
	for _, p := range phrases() {
		for _, words := range p.said {
			if !strings.ContainsAny(words, "0123456789") && (len(words) >= shortestPhrase || strings.HasPrefix(words, "press ")) {
				all = append(all, words)
			}
		}
	}
	return all
}

// ClassifyWords classifies an answer by its transcript. It returns Unknown if the text has no typical phrase.
func ClassifyWords(text string) Class {
	said := plain(text)
	for _, p := range phrases() {
		if containsAny(said, p.said) {
			return p.class
		}
	}
	return Unknown
}

// IsConnecting reports whether a transcript announces that a person will speak soon, to whom the call is being connected.
func IsConnecting(text string) bool { return containsAny(plain(text), connecting()) }

func containsAny(said string, phrases []string) bool {
	for _, words := range phrases {
		if strings.Contains(said, plain(words)) {
			return true
		}
	}
	return false
}

// plain returns a text in lower case with letters, digits and single spaces only.
func plain(text string) string {
	var b strings.Builder
	space := true
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
			space = false
		case r == '\'' || r == '’':
		case !space:
			b.WriteByte(' ')
			space = true
		}
	}
	return b.String()
}
