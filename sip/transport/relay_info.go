package transport

import "net/netip"

// RelayDirection says in which direction a message is relayed between nodes.
type RelayDirection byte

// The directions of a relayed message.
const (
	RelayIn   RelayDirection = 'i' // a request, to the node that owns it
	RelayOut  RelayDirection = 'o' // a request of the owner, to a phone that is connected to the relaying node
	RelayBack RelayDirection = 'b' // a response, to the sender of the request
)

// RelayInfo is the content of the relay header, in which a node states the source or destination of a message that it
// relays. A MAC with the key that all nodes share authenticates the header.
type RelayInfo struct {
	Direction RelayDirection
	Peer      Source         // the sender of a request, or the destination of the message
	Local     netip.AddrPort // UDP: the socket of the relaying node; zero: a connection
	NodePort  uint16         // RelayIn: UDP port of the relaying node
	Size      int            // RelayIn: original size of the request in bytes
	Socket    *UDPSocket     // RelayBack: socket to send from
}
