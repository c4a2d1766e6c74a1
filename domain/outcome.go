package domain

// Outcome is the result of an attempt to reach a contact by a call.
type Outcome string

// The outcomes of an attempt. The final states of a contact have the same names.
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

// Values returns the outcomes of a call.
func (Outcome) Values() []string {
	return values(
		OutcomeCompleted, OutcomeConfirmed, OutcomeDeclined, OutcomeVoicemail, OutcomeNoAnswer, OutcomeBusy,
		OutcomeFailed, OutcomeCancelled,
	)
}

// Reason is the reason why a call attempt ended. The API shows it as ended_reason of the call.
type Reason string

// The reasons why a call attempt ended. For a final SIP status without a reason in this table, the reason is
// sip_<code>.
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
	ReasonInterrupted      Reason = "interrupted"       // the service stopped during the call
	ReasonCancelled        Reason = "cancelled"         // the call was cancelled before an answer
	ReasonNotSent          Reason = "not_sent"          // no INVITE was sent: the attempt does not count
	ReasonInternal         Reason = "internal_error"    // internal error of the service
	ReasonConcurrency      Reason = "concurrent_limit_exceeded"
	ReasonNumberUnknown    Reason = "number_unknown"
	ReasonProtocol         Reason = "protocol_error"    // the remote party violated the SIP dialog (no ACK, invalid response)
	ReasonAgentUnavailable Reason = "agent_unavailable" // a speech or model engine failed: the attempt does not count
	ReasonRemoved          Reason = "removed"           // the contact was removed from the campaign
)

// Values returns the reasons for the end of a call.
func (Reason) Values() []string {
	return values(
		ReasonCompleted, ReasonRemoteHangup, ReasonHangup, ReasonTransferred, ReasonMaxDuration, ReasonMediaLost,
		ReasonBusy, ReasonNoAnswer, ReasonTrunkError, ReasonThrottled, ReasonInvalidNumber, ReasonTrunkRejected,
		ReasonRejected, ReasonBlocked, ReasonMediaRefused, ReasonIdentity, ReasonRedirected, ReasonInterrupted,
		ReasonCancelled, ReasonNotSent, ReasonInternal, ReasonConcurrency, ReasonNumberUnknown, ReasonProtocol,
		ReasonRemoved, ReasonSpendCap, ReasonAgentUnavailable,
	)
}

// NextLeg reports whether a call attempt may continue with another INVITE, and to which target.
type NextLeg uint8

// The ways to continue an attempt after a final response.
const (
	NextLegNone        NextLeg = iota // the attempt ends
	NextLegOtherTarget                // another target or trunk may be tried
	NextLegOtherCodecs                // the same target is tried again with other codecs
)

// Verdict is the consequence of a final SIP response, or of its absence, for the call attempt and the contact. API.md
// has a table of the verdicts on final SIP responses.
type Verdict struct {
	Outcome   Outcome
	Reason    Reason
	NextLeg   NextLeg
	Throttled bool   // the trunk is overloaded: the leg is closed, and the attempt is repeated without counting
	Alert     bool   // an operator should check the trunk
	RetryOn   string // value of retry_on that allows another attempt; empty: none
	// NoTarget means that none of a trunk's targets accepted the call: connections failed, no response came, or the
	// response was 503. TrunkOut means that earlier calls also failed on all targets.
	NoTarget, TrunkOut bool
}

// SpendsAttempt reports whether the attempt counts toward the maximum number of attempts. Attempts that were
// throttled, not sent, or failed in a speech engine do not count.
func (v Verdict) SpendsAttempt() bool {
	return !v.Throttled && v.Reason != ReasonNotSent && v.Reason != ReasonAgentUnavailable
}
