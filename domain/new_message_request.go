package domain

// NewMessage is a request to send a text message. Values of Context replace the placeholders in Body.
type NewMessage struct {
	To       string // E.164, or national in the workspace's default country
	From     string // empty: the service chooses
	Body     string
	Media    []string
	Context  Context
	Metadata map[string]string
}
