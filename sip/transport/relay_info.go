package transport

import "net/netip"

// RelayDirection says which way a message is relayed between nodes.
type RelayDirection byte

// The directions.
const (
	RelayIn   RelayDirection = 'i' // a request, to the node that it belongs to
	RelayOut  RelayDirection = 'o' // a request of that node, to a phone
	RelayBack RelayDirection = 'b' // a response, to the sender of the request
)

// RelayInfo is what a node states about a message that it relays. The statement is proved by the
// key that the nodes share.
type RelayInfo struct {
	Direction RelayDirection
	Peer      Source         // the sender of a request, or the receiver of the message
	Local     netip.AddrPort // UDP: the socket of the node that relays it; zero: its connection
	NodePort  uint16         // RelayIn: UDP port of that node
	Size      int            // RelayIn: bytes of the request as it came
	Socket    *UDPSocket     // RelayBack: to send from
}
