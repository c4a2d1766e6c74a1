package domain

// NewMessage orders a text message. The names of Context are filled into Body.
type NewMessage struct {
	To       string // E.164, or national in the workspace's default country
	From     string // "": the service chooses
	Body     string
	Media    []string
	Context  Context
	Metadata map[string]string
}
