package alerts

// AlertTest is the result of a test of an alert rule.
type AlertTest struct {
	AlertID string          `json:"alert_id" doc:"Id of the test alert, which is not stored."`
	EventID string          `json:"event_id" doc:"Id of the committed event alert.firing. It is delivered to the webhooks that subscribe to it."`
	Mails   []AlertMailTest `json:"mails" doc:"One result for each address."`
}

// AlertMailTest says whether the test mail to one address was sent.
type AlertMailTest struct {
	To    string `json:"to" doc:"The address."`
	Sent  bool   `json:"sent" doc:"true: the mail server has accepted the mail."`
	Error string `json:"error,omitempty" doc:"Error, if the mail was not accepted."`
}
