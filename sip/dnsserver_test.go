package sip_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is a small DNS server on the loopback, UDP and TCP.
type nameServer struct {
	addr  netip.AddrPort
	mu    sync.Mutex
	zone  map[string][]dnsmessage.Resource // by name and type
	asked map[string]int
	ttl   uint32
	fail  bool // answers SERVFAIL
	dumb  bool // answers nothing
	small bool // sends everybody to TCP
}

// twice listens on one port by UDP and by TCP.
func twice(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 100 {
		pc, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		l, err := net.Listen("tcp", pc.LocalAddr().String())
		if err == nil {
			return pc, l
		}
		_ = pc.Close() // somebody else has the port by TCP
	}
	require.Fail(t, "no port is free by UDP and by TCP")
	return nil, nil
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	s := &nameServer{zone: make(map[string][]dnsmessage.Resource), asked: make(map[string]int), ttl: 60}
	pc, l := twice(t)
	s.addr = netip.MustParseAddrPort(pc.LocalAddr().String())
	t.Cleanup(func() { _, _ = pc.Close(), l.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			if b := s.answer(buf[:n], true); b != nil {
				_, _ = pc.WriteTo(b, from)
			}
		}
	}()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.stream(c)
		}
	}()
	return s
}

func (s *nameServer) stream(c net.Conn) {
	defer func() { _ = c.Close() }()
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, query); err != nil {
		return
	}
	b := s.answer(query, false)
	binary.BigEndian.PutUint16(size[:], uint16(len(b)))
	_, _ = c.Write(append(size[:], b...))
}

func (s *nameServer) answer(query []byte, datagram bool) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := m.Questions[0]
	key := keyOf(q.Name.String(), q.Type)
	s.asked[key]++
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	switch {
	case s.dumb:
		return nil
	case s.fail:
		m.RCode = dnsmessage.RCodeServerFailure
	case s.small && datagram:
		m.Truncated = true
	default:
		m.Answers = s.zone[key]
		if alias, ok := s.zone[keyOf(q.Name.String(), dnsmessage.TypeCNAME)]; ok {
			m.Answers = alias
			for _, a := range alias {
				m.Answers = append(m.Answers, s.zone[keyOf(a.Body.(*dnsmessage.CNAMEResource).CNAME.String(), q.Type)]...)
			}
		}
		if len(m.Answers) == 0 {
			m.RCode = dnsmessage.RCodeNameError
		}
	}
	b, err := m.Pack()
	if err != nil {
		return nil
	}
	return b
}

func keyOf(name string, kind dnsmessage.Type) string {
	return strings.ToLower(strings.TrimSuffix(name, ".")) + " " + kind.String()
}

func (s *nameServer) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[keyOf(name, dnsmessage.TypeA)]
}

func (s *nameServer) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *nameServer) add(name string, kind dnsmessage.Type, body dnsmessage.ResourceBody) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(name, kind)
	s.zone[key] = append(s.zone[key], dnsmessage.Resource{
		Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name + "."), Type: kind, Class: dnsmessage.ClassINET, TTL: s.ttl},
		Body:   body,
	})
}

func (s *nameServer) host(name string, addrs ...string) {
	for _, text := range addrs {
		if a := netip.MustParseAddr(text); a.Is4() {
			s.add(name, dnsmessage.TypeA, &dnsmessage.AResource{A: a.As4()})
		} else {
			s.add(name, dnsmessage.TypeAAAA, &dnsmessage.AAAAResource{AAAA: a.As16()})
		}
	}
}

func (s *nameServer) srv(name string, priority, weight, port uint16, target string) {
	s.add(name, dnsmessage.TypeSRV, &dnsmessage.SRVResource{
		Priority: priority, Weight: weight, Port: port, Target: dnsmessage.MustNewName(target + "."),
	})
}

func (s *nameServer) naptr(order, preference uint16, service, leads string) {
	b := binary.BigEndian.AppendUint16(nil, order)
	b = binary.BigEndian.AppendUint16(b, preference)
	for _, text := range []string{"s", service, ""} {
		b = append(append(b, byte(len(text))), text...)
	}
	for label := range strings.SplitSeq(leads, ".") {
		b = append(append(b, byte(len(label))), label...)
	}
	s.add("full.example.com", 35, &dnsmessage.UnknownResource{Type: 35, Data: append(b, 0)})
}
