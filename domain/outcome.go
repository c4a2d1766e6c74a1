package domain

// Outcome is how an attempt to reach somebody ended, in the words of the
// specification's campaign outcomes.
type Outcome string

// The outcomes. A contact's final state uses the same words.
const (
	OutcomeCompleted Outcome = "completed"
	OutcomeConfirmed Outcome = "confirmed"
	OutcomeDeclined  Outcome = "declined"
	OutcomeVoicemail Outcome = "voicemail"
	OutcomeNoAnswer  Outcome = "no_answer"
	OutcomeBusy      Outcome = "busy"
	OutcomeFailed    Outcome = "failed"
	OutcomeCancelled Outcome = "cancelled"
)

// Values are the outcomes of a call.
func (Outcome) Values() []string {
	return values(
		OutcomeCompleted, OutcomeConfirmed, OutcomeDeclined, OutcomeVoicemail, OutcomeNoAnswer, OutcomeBusy,
		OutcomeFailed, OutcomeCancelled,
	)
}

// Reason says why an attempt ended as it did: a closed list, `ended_reason` in
// the call record.
type Reason string

// The reasons. A reason sip_<code> has the final SIP status that no reason of this
// table stands for.
const (
	ReasonCompleted        Reason = "completed"         // the pathway reached its end
	ReasonRemoteHangup     Reason = "remote_hangup"     // the remote party sent BYE
	ReasonHangup           Reason = "hangup"            // ended through the API
	ReasonTransferred      Reason = "transferred"       // the remote party was transferred
	ReasonMaxDuration      Reason = "max_duration"      // the time limit of the call was reached
	ReasonSpendCap         Reason = "spend_cap_reached" // daily_spend_cap of the workspace does not allow the next minute
	ReasonMediaLost        Reason = "media_lost"        // no RTP and no RTCP for a minute
	ReasonBusy             Reason = "busy"              // 486, 600
	ReasonNoAnswer         Reason = "no_answer"         // 480, 408 after an 18x, or no answer within the ring time
	ReasonTrunkError       Reason = "trunk_error"       // no response, transport error, 5xx
	ReasonThrottled        Reason = "throttled"         // 429 and similar: the attempt does not count
	ReasonInvalidNumber    Reason = "invalid_number"    // 404, 410, 484, 485, 604
	ReasonTrunkRejected    Reason = "trunk_rejected"    // 403, 401 or 407 after credentials
	ReasonRejected         Reason = "rejected"          // 603
	ReasonBlocked          Reason = "blocked"           // 603+, 607, 608
	ReasonMediaRefused     Reason = "media"             // 415, 488, 606
	ReasonIdentity         Reason = "identity"          // 428, 436 to 438
	ReasonRedirected       Reason = "redirected"        // 3xx
	ReasonInterrupted      Reason = "interrupted"       // the service ended in between
	ReasonCancelled        Reason = "cancelled"         // given up before an answer
	ReasonNotSent          Reason = "not_sent"          // no INVITE left: the attempt is not spent
	ReasonInternal         Reason = "internal_error"    // a fault of ours
	ReasonConcurrency      Reason = "concurrent_limit_exceeded"
	ReasonNumberUnknown    Reason = "number_unknown"
	ReasonProtocol         Reason = "protocol_error"    // the far end broke the dialog (no ACK, bad answer)
	ReasonAgentUnavailable Reason = "agent_unavailable" // the agent could not speak, hear or think: the attempt is not spent
	ReasonRemoved          Reason = "removed"           // of a contact that somebody took out
)

// Values are the reasons for the end of a call.
func (Reason) Values() []string {
	return values(
		ReasonCompleted, ReasonRemoteHangup, ReasonHangup, ReasonTransferred, ReasonMaxDuration, ReasonMediaLost,
		ReasonBusy, ReasonNoAnswer, ReasonTrunkError, ReasonThrottled, ReasonInvalidNumber, ReasonTrunkRejected,
		ReasonRejected, ReasonBlocked, ReasonMediaRefused, ReasonIdentity, ReasonRedirected, ReasonInterrupted,
		ReasonCancelled, ReasonNotSent, ReasonInternal, ReasonConcurrency, ReasonNumberUnknown, ReasonProtocol,
		ReasonRemoved, ReasonSpendCap, ReasonAgentUnavailable,
	)
}

// NextLeg says whether an attempt may go on with another INVITE at once.
type NextLeg uint8

// What may follow a final answer within the same attempt.
const (
	NextLegNone        NextLeg = iota // the attempt ends
	NextLegOtherTarget                // another target or trunk may be tried
	NextLegOtherCodecs                // the same target once more, with other codecs
)

// Verdict is what one final answer, or its lack, means for the attempt and for
// the contact: one row of API.md's table of final SIP answers.
type Verdict struct {
	Outcome   Outcome
	Reason    Reason
	NextLeg   NextLeg
	Throttled bool   // trunks want no more calls now: close the leg, put the attempt back; it is not spent
	Alert     bool   // an operator should look at the trunk
	RetryOn   string // the word of retry_on that allows another attempt; "" never
	// NoTarget says that no target of a trunk took the call: each connection failed, or nobody answered at all, or the
	// answer was 503. With TrunkOut calls before failed so as well, on all targets.
	NoTarget, TrunkOut bool
}

// SpendsAttempt says whether the attempt counts: a throttled or unsent one, and one whose
// agent was of no use, goes back to the queue and is free.
func (v Verdict) SpendsAttempt() bool {
	return !v.Throttled && v.Reason != ReasonNotSent && v.Reason != ReasonAgentUnavailable
}
