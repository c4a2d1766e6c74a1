package message

// Header is an additional header of a message.
type Header struct{ Name, Value string }

// DialogID identifies a dialog from the side whose tag is LocalTag.
type DialogID struct {
	CallID, LocalTag, RemoteTag string
}
