package conversation

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// Messages that the call actor sends to a conversation.
type (
	// StartConversation starts the conversation. It is sent once the call is answered and the media clock runs.
	StartConversation struct{}
	// MediaEvent carries an event of the call's media session.
	MediaEvent struct{ Event media.Event }
	// SpeakText makes the agent speak a text between the prompts of the pathway.
	SpeakText struct{ Text string }
	// PauseAgent silences the agent until ResumeAgent, because another person speaks with the caller. Pressed keys have no
	// effect in the meantime.
	PauseAgent struct{}
	// ResumeAgent lets the agent talk to the caller again. OK reports that another person has spoken with the caller.
	ResumeAgent struct{ OK bool }
	// HumanPresenceChanged reports that the person to whom the caller is transferred joined or left the call.
	HumanPresenceChanged struct{ Present bool }
	// HumanKeyPressed reports a key that the person to whom the caller is transferred has pressed.
	HumanKeyPressed struct{ Key byte }
	// FinishConversation ends the conversation after the end of the call. The reply is FinishReply.
	FinishConversation struct{}

	engineFailed struct {
		stage string // tts or stt
		fault speech.EngineFailure
	}
	lastWordsTimeout struct{} // the last words were not recognized in time
	delayedEnd       struct{ ended PathwayEnded }
)

// Messages that a conversation sends to its call actor.
type (
	// PathwayEnded reports the end of the pathway, after which the call hangs up. Reason is "" or an error code.
	PathwayEnded struct {
		Outcome     domain.Outcome
		Reason      string
		AgentUnable bool // the agent's engines failed, so the call is no success
	}
	// RequestTransfer requests a transfer of the caller. The call actor sends ResumeAgent if the caller returns to the agent.
	RequestTransfer struct {
		Destination     string
		Mode            domain.TransferMode
		Summary         string
		RedactedSummary string // Summary as it may be stored
		Reason          string // reason of the transfer; "": the pathway requested it
	}
	// Fault reports an error after which the conversation continues. Recovered says that the caller did not notice the error.
	Fault struct {
		Stage, Code, Message string
		Recovered            bool
	}
	// FinishReply is the reply to FinishConversation, with the results of the conversation.
	FinishReply struct {
		Result      pathway.Result
		Segments    []domain.Segment
		SlowestTurn time.Duration // the longest wait for the agent's reply
		Turns       []domain.TurnLatency
		AgentUnable bool // the agent's engines failed, or the agent did not speak before the caller hung up
	}
)

// Control implements mailbox.Control: a full mailbox accepts this message. One call causes a limited number of them.
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
func (FinishReply) Control()          {}
func (engineFailed) Control()         {}
func (lastWordsTimeout) Control()     {}
func (delayedEnd) Control()           {}
