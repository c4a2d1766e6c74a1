package message

// Header is one extra header of a message.
type Header struct{ Name, Value string }

// DialogID names a dialog as one of its two ends sees it.
type DialogID struct {
	CallID, LocalTag, RemoteTag string
}
