package pathway

import "strings"

// What a model that plays a caller writes in place of words.
const (
	callerPressMark   = "[press "
	callerSilenceMark = "[silence]"
	callerHangUpMark  = "[hang up]"
	maxCallerText     = 500 // letters of what a caller says at once
)

// CallerPrompt is what a model is told that plays a caller: somebody with a goal,
// who is as persona says.
func CallerPrompt(goal, persona string) string {
	var b strings.Builder
	b.WriteString("You play a person on the telephone, to try out an automated agent. What you are told is what the agent says. Answer only with what the person says next: " +
		"one or two short sentences, spoken, without quotes or stage directions. Never speak for the agent, never say that you are a model or that this is a test. " +
		"To press keys, answer only " + callerPressMark + "1] with the keys. To say nothing, answer only " + callerSilenceMark + ". " +
		"Once the person has what it wants or gives it up, take leave in a word and end your answer with " + callerHangUpMark + ".")
	b.WriteString("\n\nWhat the person wants: " + goal)
	if persona != "" {
		b.WriteString("\n\nHow the person is: " + persona)
	}
	return b.String()
}

// lowerASCII lowers what our own words are made of, and keeps every letter's length.
func lowerASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// ParseCallerTurn reads what such a model wrote: what the caller says or keys in, ""
// being silence, and whether it hangs up behind that.
func ParseCallerTurn(text string) (says string, leaves bool) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, ""))
	lower := strings.Map(lowerASCII, text)
	if i := strings.Index(lower, callerHangUpMark); i >= 0 {
		leaves = true
		text = strings.TrimSpace(text[:i])
		lower = strings.Map(lowerASCII, text)
	}
	if i := strings.Index(lower, callerPressMark); i >= 0 {
		keys, _, _ := strings.Cut(text[i+len(callerPressMark):], "]")
		return strings.Join(strings.Fields(keys), ""), leaves
	}
	if strings.Contains(lower, callerSilenceMark) {
		return "", leaves
	}
	text = strings.Join(strings.Fields(strings.Trim(text, `"“”`)), " ")
	if letters := []rune(text); len(letters) > maxCallerText {
		text = string(letters[:maxCallerText])
	}
	return text, leaves
}
