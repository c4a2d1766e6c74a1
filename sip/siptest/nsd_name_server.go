//go:build linux

package siptest

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// NameServer runs the name server NSD with zones of the test, on UDP and TCP of loopback.
type NameServer struct {
	Addr   netip.AddrPort
	dir    string
	serial int
	cmd    *exec.Cmd
	out    *bytes.Buffer
}

const nsdConfig = `server:
  ip-address: 127.0.0.1@%[2]d
  username: ""
  chroot: ""
  zonesdir: "%[1]s"
  pidfile: "%[1]s/pid"
  zonelistfile: "%[1]s/zone.list"
  xfrdfile: ""
  xfrdir: "%[1]s"
  database: ""
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
`

// StartNameServer starts a server with one zone file for each name. The negative TTL of the zones is 7 s; records
// without a TTL have 60 s.
func StartNameServer(t *testing.T, zones map[string]string) *NameServer {
	t.Helper()
	s := &NameServer{dir: t.TempDir()}
	s.Addr = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(Port(t)))
	config := fmt.Appendf(nil, nsdConfig, s.dir, s.Addr.Port())
	for name := range zones {
		config = fmt.Appendf(config, "zone:\n  name: %q\n  zonefile: %q\n", name, name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "nsd.conf"), config, 0o600))
	s.Write(t, zones)
	s.Start(t, zones)
	t.Cleanup(func() { s.Stop(t) })
	return s
}

// Write writes the zone files, which the server reads when it starts.
func (s *NameServer) Write(t *testing.T, zones map[string]string) {
	t.Helper()
	s.serial++
	for name, records := range zones {
		head := fmt.Sprintf("$TTL 60\n@ IN SOA ns.%[1]s. admin.%[1]s. %[2]d 3600 600 86400 7\n@ IN NS ns\nns IN A 127.0.0.1\n", name, s.serial)
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), []byte(head+records), 0o600))
	}
}

// Start runs NSD until Stop, and at most as long as the test binary runs.
func (s *NameServer) Start(t *testing.T, zones map[string]string) {
	t.Helper()
	program, err := exec.LookPath("nsd")
	require.NoError(t, err, "NSD is needed: make tools")
	s.out = new(bytes.Buffer)
	s.cmd = exec.Command(program, "-d", "-c", filepath.Join(s.dir, "nsd.conf"))
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
	require.NoError(t, s.cmd.Start())
	s.waitUntilServed(t, zones)
}

// waitUntilServed returns once the server answers with the latest zone files.
func (s *NameServer) waitUntilServed(t *testing.T, zones map[string]string) {
	t.Helper()
	for name := range zones {
		require.Eventually(t, func() bool {
			m, err := dns.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeSOA), s.Addr.String())
			return err == nil && len(m.Answer) == 1 && m.Answer[0].(*dns.SOA).Serial == uint32(s.serial)
		}, time.Minute, 10*time.Millisecond, "NSD does not serve %s", name)
	}
}

// Reload replaces the zones of the running server.
func (s *NameServer) Reload(t *testing.T, zones map[string]string) {
	t.Helper()
	s.Write(t, zones)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGHUP))
	s.waitUntilServed(t, zones)
}

// Stop ends the server and its child processes. Start may be called again afterwards.
func (s *NameServer) Stop(t *testing.T) {
	t.Helper()
	if s.cmd == nil {
		return
	}
	group := -s.cmd.Process.Pid
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(30*time.Second, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
	_ = s.cmd.Wait()
	kill.Stop()
	_ = syscall.Kill(group, syscall.SIGKILL) // child processes that outlive the parent
	s.cmd = nil
	if t.Failed() {
		t.Logf("nsd: %s", s.out)
	}
}

// Zone returns the text of a zone file with these records.
func Zone(records ...string) string { return strings.Join(records, "\n") + "\n" }
