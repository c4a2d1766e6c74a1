package pathway

import "strings"

// Marks in the output of the simulated caller that stand for an action: press keys, stay silent or hang up.
const (
	callerPressMark   = "[press "
	callerSilenceMark = "[silence]"
	callerHangUpMark  = "[hang up]"
	maxCallerText     = 500 // maximum length of the caller's text in characters
)

// CallerPrompt returns the system prompt of a model that plays a caller with a goal and a persona.
func CallerPrompt(goal, persona string) string {
	var b strings.Builder
	b.WriteString("You play a person on the telephone, to try out an automated agent. Each message that you receive is what the agent says. Answer only with what the person says next: " +
		"one or two short sentences, spoken, without quotes or stage directions. Never speak for the agent, never say that you are a model or that this is a test. " +
		"To press keys, answer only " + callerPressMark + "1] with the keys. To say nothing, answer only " + callerSilenceMark + ". " +
		"Once the person has reached the goal or gives up, say goodbye in a word and end your answer with " + callerHangUpMark + ".")
	b.WriteString("\n\nThe goal of the person: " + goal)
	if persona != "" {
		b.WriteString("\n\nThe manner of the person: " + persona)
	}
	return b.String()
}

// lowerASCII converts ASCII letters to lower case, so that byte positions stay valid.
func lowerASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// ParseCallerTurn parses the output of the simulated caller. says is the spoken text, the pressed keys, or "" for
// silence. leaves reports whether the caller hangs up afterwards.
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
