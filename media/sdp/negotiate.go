package sdp

import "net/netip"

// Event is the name of telephone events (RFC 4733), as Format.Name has it.
const Event = "TELEPHONE-EVENT"

// Agreed is what two descriptions have in common, seen from us.
type Agreed struct {
	Stream  int            // which m-line of theirs
	Codec   Format         // what we send, by their payload type
	Listen  []Format       // every sound they may send
	Event   Format         // telephone events; Name "" : not agreed
	Remote  netip.AddrPort // where their RTP port is; a zero port or unspecified address: nowhere
	RTCP    netip.AddrPort
	Held    bool      // they do not want to hear us
	Silent  bool      // they do not mean to send
	Ours    Direction // what our answer says
	PTime   int       // ms: 10, 20, 30 or 40
	Offered bool
}

// Agree compares their description with the codecs we speak, in our order. As answerer (they offered) our order decides;
// as offerer their answer does: its first codec that we know is what we send.
func Agree(theirs *Session, ours []string, theyOffered bool) (Agreed, error) {
	i, ok := theirs.Audio()
	if !ok {
		return Agreed{}, ErrNoAudio
	}
	m := &theirs.Media[i]
	a := Agreed{Stream: i, Held: m.Held(), Silent: !m.Direction.Sends(), PTime: ptime(m), Offered: theyOffered}
	for _, f := range m.Formats {
		if f.Clock != 8000 {
			continue
		}
		if f.Name == Event && a.Event.Name == "" {
			a.Event = Format{Type: f.Type, Name: Event, Clock: 8000, Params: "0-15"}
		}
		for _, name := range ours {
			if f.Name == name {
				a.Listen = append(a.Listen, Format{Type: f.Type, Name: name, Clock: 8000})
			}
		}
	}
	if len(a.Listen) == 0 {
		return Agreed{}, ErrNoAudio
	}
	a.Codec = a.Listen[0]
	if theyOffered {
		a.Codec = prefer(a.Listen, ours)
		a.Listen = []Format{a.Codec}
	}
	if !m.Addr.IsValid() {
		return Agreed{}, syntax(0, "no c=")
	}
	a.addresses(m)
	a.Ours = m.Direction.Mirror()
	if m.Addr.IsUnspecified() && a.Ours.Sends() {
		a.Ours = map[Direction]Direction{SendRecv: RecvOnly, SendOnly: Inactive}[a.Ours]
	}
	return a, nil
}

func (a *Agreed) addresses(m *Media) {
	a.Remote = netip.AddrPortFrom(m.Addr, uint16(m.Port)) //nolint:gosec // 16 bits by the reader
	a.RTCP = netip.AddrPortFrom(m.Addr, uint16(min(m.Port+1, 0xFFFF)))
	if m.RTCP.Port() > 0 {
		addr := m.RTCP.Addr()
		if !addr.IsValid() {
			addr = m.Addr
		}
		a.RTCP = netip.AddrPortFrom(addr, m.RTCP.Port())
	}
}

func prefer(common []Format, ours []string) Format {
	for _, name := range ours {
		for _, f := range common {
			if f.Name == name {
				return f
			}
		}
	}
	return common[0]
}

// ptime is the packet length that they ask for, where we can send it.
func ptime(m *Media) int {
	want := m.PTime
	if want == 0 {
		want = 20
	}
	if m.MaxPTime > 0 {
		want = min(want, m.MaxPTime)
	}
	switch {
	case want >= 40:
		return 40
	case want >= 30:
		return 30
	case want < 20:
		return 10
	}
	return 20
}
