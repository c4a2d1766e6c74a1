package conversation

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media/amd"
)

// AnswererDetected reports to the call actor whether a person or a machine answered, as in the API field answered_by. It is
// sent again if the result changes.
type AnswererDetected struct{ By string }

type (
	// answerTimeout is the timer message that starts a pathway without a verdict.
	answerTimeout struct{ generation int }
	// wordsTimeout is the timer message that ends the wait of a verdict for words.
	wordsTimeout struct{ generation int }
	// beepTimeout is the timer message that ends the wait for a beep.
	beepTimeout struct{ generation int }
	// messageDue is the timer message that starts the voicemail message after a beep.
	messageDue struct{ generation int }
)

// Control implements mailbox.Control: a full mailbox accepts this message. One call causes a limited number of them.
func (AnswererDetected) Control() {}
func (answerTimeout) Control()    {}
func (wordsTimeout) Control()     {}
func (beepTimeout) Control()      {}
func (messageDue) Control()       {}

const (
	maxVerdictWait     = 13 * time.Second       // answering machine detection decides within 12 s
	maxConnectWait     = 40 * time.Second       // wait for a person while an announcement says that the call is being connected
	maxBeepWait        = 60 * time.Second       // longer than any greeting
	machineWordsWindow = 20 * time.Second       // time in which words of an announcement reveal a machine
	personWordsWait    = 700 * time.Millisecond // longest wait of a person's verdict for words
	machineWordsWait   = 8 * time.Second        // longest wait of a voicemail's verdict for typical words or the end of the greeting
	beepWordsWait      = time.Second            // the same after a beep
	beepPause          = 700 * time.Millisecond // from a beep to the voicemail message: another beep may follow
	beepRepeat         = 5 * time.Second        // time after a beep in which another one starts the message again
	messageNode        = "voicemail"
)

// messageStage is the progress of leaving a voicemail message.
type messageStage uint8

const (
	noMessage         messageStage = iota
	messageAwaitsBeep              // the agent waits for the beep or the end of the greeting
	messageBeforeBeep              // the message is being spoken, and no beep was heard so far
	messageAfterBeep               // the message is being spoken after a beep, or begins soon
	messageDone
)

// answerAction is the reaction of the conversation to an event of answer detection.
type answerAction uint8

const (
	noAnswerAction   answerAction = iota
	beginPathway                  // start the pathway, which waited for the verdict
	resumePathway                 // continue the pathway: the supposed machine is a person
	awaitPerson                   // stay silent until a person speaks
	awaitWords                    // decide when the words of the greeting are known
	awaitBeep                     // stay silent until the beep
	awaitAnotherBeep              // speak the message unless another beep follows
	leaveMessage                  // speak the message from its beginning
	endCall                       // end the call without a message
)

// answerDetection decides how the conversation reacts when a person or a machine has answered. It is a state machine: each
// event returns an action.
//
// Where the words of the greeting are recognized, they decide before a verdict of voicemail is acted on: the verdict is held
// until typical words are found, the greeting ends without them, or machineWordsWait has passed.
type answerDetection struct {
	pathwayBegun    bool
	waitsForVerdict bool // the pathway waits for the verdict
	isPerson        bool // a key was pressed; later verdicts are ignored
	lastReported    string
	stage           messageStage
	generation      int           // number of the current wait for the beep, for words or for a person
	beepAt          time.Duration // position of the latest beep on the media clock
	messageBegun    bool          // the message was spoken, at least in part

	hasWords     bool      // the words of the greeting are recognized
	pending      int       // recognitions in progress
	byWords      amd.Class // result of the words; Unknown: none
	held         bool      // a verdict waits for words
	heldClass    amd.Class // this verdict
	heldBeep     bool      // a beep was heard while the verdict waits
	heldOver     bool      // the greeting has ended while the verdict waits
	isConnecting bool      // an announcement said that the call is being connected
}

// situation is what a decision depends on besides the state of the answer detection.
type situation struct {
	absent    bool   // the agent is paused
	over      bool   // the pathway has ended
	onMachine string // AgentAMD.VoicemailAction
}

// hasMachine reports whether a machine has answered and the agent leaves a voicemail message.
func (a *answerDetection) hasMachine() bool { return a.stage != noMessage }

// isFinal reports whether a verdict has no effect any more.
func (a *answerDetection) isFinal(s situation) bool {
	return a.isPerson || s.absent && !a.hasMachine() && !a.waitsForVerdict && !a.isConnecting || a.stage > messageAwaitsBeep
}

// onVerdict handles a verdict by the sound of the answer. It returns false if the verdict is not reported, because it is
// ignored or held.
func (a *answerDetection) onVerdict(by amd.Class, s situation) (answerAction, bool) {
	switch {
	case a.isFinal(s) || a.isConnecting && by != amd.Fax:
		return noAnswerAction, false
	case a.byWords != amd.Unknown && by != amd.Fax && by != amd.Unavailable: // words are more certain than lengths
		return noAnswerAction, false
	case a.hasWords && by == amd.Voicemail, a.pending > 0 && !by.Machine():
		return a.hold(by, s)
	}
	return a.decide(by, s)
}

// hold lets a verdict wait for words. The agent is silent from now on if it is to leave a message.
func (a *answerDetection) hold(by amd.Class, s situation) (answerAction, bool) {
	a.held, a.heldClass, a.heldBeep, a.heldOver = true, by, false, false
	a.generation++
	if by == amd.Voicemail && s.onMachine == domain.AMDMessage && !s.absent && !s.over && a.stage == noMessage {
		a.waitsForVerdict, a.stage = false, messageAwaitsBeep
		return awaitBeep, false
	}
	return awaitWords, false
}

// wordsWait returns how long the held verdict waits for words.
func (a *answerDetection) wordsWait() time.Duration {
	switch {
	case a.heldClass != amd.Voicemail:
		return personWordsWait
	case a.heldBeep:
		return beepWordsWait
	}
	return machineWordsWait
}

// onWords handles typical words. by is Unknown if a recognition has found none. connecting says that the words announce a
// person.
func (a *answerDetection) onWords(by amd.Class, connecting bool, s situation) (answerAction, bool) {
	switch {
	case a.isFinal(s):
		return noAnswerAction, false
	case by == amd.Unknown:
		return a.endHold(s)
	}
	a.byWords, a.held = by, false
	switch {
	case connecting && a.isConnecting:
		return noAnswerAction, false
	case connecting:
		a.isConnecting, a.stage = true, noMessage
		a.generation++
		return awaitPerson, true
	case a.isConnecting && !by.Machine():
		return a.onPerson(), true
	case a.isConnecting: // the agent is paused for this wait only
		a.isConnecting, s.absent = false, false
	}
	return a.decide(by, s)
}

// endHold decides by the held verdict if nothing is to be expected of words any more.
func (a *answerDetection) endHold(s situation) (answerAction, bool) {
	if !a.held || a.pending > 0 || a.heldClass == amd.Voicemail && !a.heldBeep && !a.heldOver {
		return noAnswerAction, false
	}
	return a.release(s)
}

// onWordsTimeout decides by the held verdict, because no words were recognized in time.
func (a *answerDetection) onWordsTimeout(m wordsTimeout, s situation) (answerAction, bool) {
	if !a.held || m.generation != a.generation {
		return noAnswerAction, false
	}
	return a.release(s)
}

// release decides by the held verdict.
func (a *answerDetection) release(s situation) (answerAction, bool) {
	a.held = false
	return a.decide(a.heldClass, s)
}

// onPerson ends the wait for the person to whom an announcement connects the call.
func (a *answerDetection) onPerson() answerAction {
	a.isConnecting = false
	a.generation++
	return resumePathway
}

// decide handles a verdict that is not held. It returns false if it ignores the verdict.
func (a *answerDetection) decide(by amd.Class, s situation) (answerAction, bool) {
	a.held = false
	switch {
	case a.isFinal(s):
		return noAnswerAction, false
	case s.absent && !a.hasMachine(): // the caller is being transferred: the pathway starts when the agent resumes
		a.waitsForVerdict = false
		return noAnswerAction, true
	case a.stage == messageAwaitsBeep && !by.Machine():
		return a.resume(), true
	case a.stage == messageAwaitsBeep && by != amd.Voicemail: // a fax or a network announcement
		return endCall, true
	case a.stage == messageAwaitsBeep:
		return noAnswerAction, true
	case !by.Machine() || s.onMachine == "" || s.over:
		return a.beginPathway(), true
	case s.onMachine == domain.AMDMessage && by == amd.Voicemail:
		a.waitsForVerdict, a.stage = false, messageAwaitsBeep
		a.generation++
		return awaitBeep, true
	}
	return endCall, true
}

// beginPathway starts a pathway that waits for the verdict.
func (a *answerDetection) beginPathway() answerAction {
	if a.waitsForVerdict {
		return beginPathway
	}
	return noAnswerAction
}

// onVerdictTimeout starts a pathway that has waited too long for the result of answering machine detection, or for a person.
func (a *answerDetection) onVerdictTimeout(m answerTimeout) answerAction {
	switch {
	case a.isConnecting && m.generation == a.generation:
		return a.onPerson()
	case a.isConnecting, a.held && a.heldClass == amd.Voicemail: // another timer follows
		return noAnswerAction
	}
	return a.beginPathway()
}

// onKey handles a pressed key, which proves that a person answered. It returns false if nothing changes.
func (a *answerDetection) onKey(absent bool) (answerAction, bool) {
	absent = absent && !a.hasMachine() && !a.isConnecting
	if a.isPerson || a.stage == messageDone || absent {
		return noAnswerAction, false
	}
	a.isPerson, a.held = true, false
	switch {
	case a.isConnecting:
		return a.onPerson(), true
	case a.hasMachine():
		return a.resume(), true
	}
	return a.beginPathway(), true
}

func (a *answerDetection) resume() answerAction {
	a.stage = noMessage
	a.generation++
	return resumePathway
}

// onBeep starts the voicemail message from its beginning after the beep, because the mailbox does not record earlier audio.
// at is the position on the media clock.
func (a *answerDetection) onBeep(at time.Duration) answerAction {
	if a.held {
		a.heldBeep = true
		a.generation++
		return awaitWords
	}
	switch a.stage {
	case messageAfterBeep:
		if at-a.beepAt > beepRepeat {
			return noAnswerAction
		}
	case noMessage, messageDone:
		return noAnswerAction
	case messageAwaitsBeep, messageBeforeBeep:
	}
	a.stage, a.beepAt = messageAfterBeep, at
	a.generation++
	return awaitAnotherBeep
}

// onMessageDue starts the voicemail message unless another beep has followed.
func (a *answerDetection) onMessageDue(m messageDue) answerAction {
	if m.generation != a.generation || a.stage != messageAfterBeep {
		return noAnswerAction
	}
	return leaveMessage
}

// onGreetingEnd starts the voicemail message at the end of the greeting if no beep was heard so far.
func (a *answerDetection) onGreetingEnd() answerAction {
	if a.held || a.stage != messageAwaitsBeep {
		a.heldOver = a.held
		return noAnswerAction
	}
	a.stage = messageBeforeBeep
	return leaveMessage
}

// onBeepTimeout starts the voicemail message if neither a beep nor the end of the greeting was heard in time.
func (a *answerDetection) onBeepTimeout(m beepTimeout) answerAction {
	if m.generation != a.generation {
		return noAnswerAction
	}
	return a.onGreetingEnd()
}

// onHoldEnd repeats a voicemail message that was interrupted while the call was on hold.
func (a *answerDetection) onHoldEnd() answerAction {
	if a.stage == messageBeforeBeep || a.stage == messageAfterBeep {
		a.generation++
		return leaveMessage
	}
	return noAnswerAction
}
