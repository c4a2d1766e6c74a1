package message

// Header is an additional header of a message.
type Header struct{ Name, Value string }

// DialogID identifies a dialog. LocalTag is the tag of the side that uses the DialogID.
type DialogID struct {
	CallID, LocalTag, RemoteTag string
}
