package conversation

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// Messages that a conversation takes.
type (
	// Begin starts the conversation: the call is answered and the media clock runs.
	StartConversation struct{}
	// Heard is an event of the call's media.
	MediaEvent struct{ Event media.Event }
	// Speak says a text between the prompts of the pathway.
	SpeakText struct{ Text string }
	// PauseAgent says that somebody else has the caller: the agent says nothing and no key counts until ResumeAgent.
	PauseAgent struct{}
	// ResumeAgent says that the agent has the caller again. OK: somebody else has spoken with the caller in between.
	ResumeAgent struct{ OK bool }
	// Human says that a human came to speak with the caller, or left.
	HumanPresenceChanged struct{ Present bool }
	// HumanKey is a key that the human pressed.
	HumanKeyPressed struct{ Key byte }
	// Finish ends the conversation: the call is over. Finished answers.
	FinishConversation struct{}

	engineFailed struct {
		stage string // tts | stt
		fault speech.EngineFailure
	}
	lastWordsTimeout struct{} // the last words were not recognized in time
	delayedOver      struct{ over PathwayEnded }
)

// Messages that a conversation sends to its call.
type (
	// Over says that the pathway has come to its end: the call may hang up. Reason is "" or why it was broken off.
	PathwayEnded struct {
		Outcome     domain.Outcome
		Reason      string
		AgentUnable bool // the agent could not speak, hear or think: the call is no success
	}
	// Transfer asks for a transfer of the caller; ResumeAgent answers if the caller returns.
	RequestTransfer struct {
		Destination     string
		Mode            domain.TransferMode
		Summary         string
		RedactedSummary string // Summary as it may be stored
		Reason          string // why; "": the pathway wants it
	}
	// Fault reports an error. Recovered: the caller did not notice. The conversation goes on.
	Fault struct {
		Stage, Code, Message string
		Recovered            bool
	}
	// Finished answers Finish.
	ConversationFinished struct {
		Result      pathway.Result
		Segments    []domain.Segment
		SlowestTurn time.Duration // the longest wait for the agent's next word
		Turns       []domain.TurnLatency
		AgentUnable bool // the agent could not speak, hear or think, or was not heard before the caller hung up
	}
)

// Control: all of these are bound by the call.
func (StartConversation) Control()    {}
func (MediaEvent) Control()           {}
func (FinishConversation) Control()   {}
func (SpeakText) Control()            {}
func (PauseAgent) Control()           {}
func (ResumeAgent) Control()          {}
func (HumanPresenceChanged) Control() {}
func (HumanKeyPressed) Control()      {}
func (RequestTransfer) Control()      {}
func (PathwayEnded) Control()         {}
func (Fault) Control()                {}
func (ConversationFinished) Control() {}
func (engineFailed) Control()         {}
func (lastWordsTimeout) Control()     {}
func (delayedOver) Control()          {}
