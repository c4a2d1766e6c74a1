// Package setup asks the operator for the settings of a new service on a terminal. It writes the answers as a file
// of environment variables and converts them to the first trunk. It starts no service.
package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/configs"
)

// Answers holds the settings of a new service. AskMissing fills empty fields by questions on a terminal, or with
// defaults.
type Answers struct {
	Data           string
	MasterKeyFile  string
	SIP            string // listen address of SIP
	PublicIP       string
	MediaPorts     string
	HTTP           string
	PublicURL      string
	TLSCert        string
	TLSKey         string
	TrustedProxies string // networks of reverse proxies that terminate TLS
	RedisURL       string

	TrunkHost      string
	TrunkPort      int
	TrunkTransport string
	TrunkUser      string
	TrunkPassword  string
	TrunkRegister  bool
	CallerID       string
	TestCall       string // number that is called at the end of the setup
	// ReadHidden reads the password without showing it. If it is nil, the terminal shows the password.
	ReadHidden func() (string, error)
}

// Default settings of a new service.
const (
	DefaultData       = "/var/lib/callboard"
	DefaultMediaPorts = "20000-29999"
	loopbackHTTP      = "127.0.0.1:8080"
	httpsPort         = ":8443"
	sipPort           = 5060
)

// AskMissing fills the empty fields. If ask is true, it asks questions on out and reads the answers from in. Otherwise
// it uses defaults.
func (a *Answers) AskMissing(in io.Reader, out io.Writer, ask bool) error {
	q := &interviewer{lines: bufio.NewScanner(in), out: out, interactive: ask, readHidden: a.ReadHidden}
	q.askText(&a.Data, "Data folder", DefaultData)
	if abs, err := filepath.Abs(a.Data); err == nil {
		a.Data = abs
	}
	q.askText(&a.MasterKeyFile, "File with the master key, outside of the data folder (empty: in the data folder)", "")
	q.askText(&a.SIP, "Listen address of SIP, with port", defaultSIPAddress())
	if at, err := netip.ParseAddrPort(a.SIP); err == nil && (at.Addr().IsPrivate() || at.Addr().IsUnspecified()) {
		q.askText(&a.PublicIP, "Public IP address for carriers (empty: the carriers are in the same network)", "")
	}
	q.askText(&a.MediaPorts, "UDP ports for RTP, two per call, open in the firewall", DefaultMediaPorts)
	q.askText(&a.TLSCert, "Certificate chain for HTTPS, PEM (empty: a reverse proxy terminates TLS, or HTTP stays on this machine)", "")
	defaultValue := loopbackHTTP
	if a.TLSCert != "" {
		q.askText(&a.TLSKey, "Private key for HTTPS, PEM", "")
		defaultValue = "0.0.0.0" + httpsPort
	}
	q.askText(&a.HTTP, "Listen address of the API and the dashboard, with port", defaultValue)
	q.askText(&a.PublicURL, "Public URL of the service (empty: derived from the listen address)", "")
	q.askText(&a.TrunkHost, "Host of the carrier's SIP proxy (empty: no trunk yet)", "")
	if a.TrunkHost != "" {
		q.askText(&a.TrunkTransport, "Transport: udp, tcp or tls", "udp")
		q.askText(&a.TrunkUser, "User name at the carrier (empty: the carrier authenticates by IP address)", "")
		if a.TrunkUser != "" && a.TrunkPassword == "" {
			q.askSecret(&a.TrunkPassword, "Password at the carrier")
		}
		q.askText(&a.CallerID, "Caller ID, such as +12025550100", "")
		q.askText(&a.TestCall, "Number for a test call, such as your own (empty: no test call)", "")
	}
	return q.err
}

type interviewer struct {
	lines       *bufio.Scanner
	out         io.Writer
	interactive bool
	err         error
	// readHidden reads a line without showing it. If it is nil, the terminal shows all input.
	readHidden func() (string, error)
}

// askText asks a question and stores the answer in *to, unless *to already has a value. If there is no terminal, it
// stores the default value.
func (q *interviewer) askText(to *string, question, defaultValue string) {
	if *to != "" || q.err != nil {
		return
	}
	if *to = defaultValue; !q.interactive {
		return
	}
	shown := ""
	if defaultValue != "" {
		shown = " [" + defaultValue + "]"
	}
	_, _ = fmt.Fprintf(q.out, "%s%s: ", question, shown)
	if !q.lines.Scan() {
		if q.err = q.lines.Err(); q.err == nil {
			q.err = io.ErrUnexpectedEOF
		}
		return
	}
	if text := strings.TrimSpace(q.lines.Text()); text != "" {
		*to = text
	}
}

// askSecret asks for a value without echo.
func (q *interviewer) askSecret(to *string, question string) {
	if q.readHidden == nil {
		q.askText(to, question, "")
		return
	}
	if !q.interactive {
		return
	}
	_, _ = fmt.Fprintf(q.out, "%s: ", question)
	text, err := q.readHidden()
	if q.err = errors.Join(q.err, err); err == nil {
		*to = strings.TrimSpace(text)
	}
	_, _ = fmt.Fprintln(q.out)
}

// defaultSIPAddress returns the address from which this machine reaches the internet, with port 5060.
func defaultSIPAddress() string {
	var d net.Dialer
	conn, err := d.DialContext(context.Background(), "udp", "192.0.2.1:9") // connecting a UDP socket sends nothing
	if err == nil {
		defer func() { _ = conn.Close() }()
		if at, err := netip.ParseAddrPort(conn.LocalAddr().String()); err == nil {
			return netip.AddrPortFrom(at.Addr().Unmap(), sipPort).String()
		}
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), sipPort).String()
}

// EnvironmentLines returns the answers as NAME=VALUE lines, in the order in which the documentation lists the settings.
func (a *Answers) EnvironmentLines() []string {
	values := map[string]string{
		"data": a.Data, "master_key_file": a.MasterKeyFile, "redis_url": a.RedisURL, "sip_addr": a.SIP, "public_ip": a.PublicIP, "media_ports": a.MediaPorts,
		"http_addr": a.HTTP, "public_url": a.PublicURL, "tls_cert": a.TLSCert, "tls_key": a.TLSKey, "trusted_proxies": a.TrustedProxies,
		"log_format": string(configs.LogJSON),
	}
	if to, ok := a.privateTrunkNetwork(); ok {
		values["egress_allow"] = to
	}
	var lines []string
	for _, s := range configs.Settings() {
		if value := values[s.Key]; value != "" && value != s.Default {
			lines = append(lines, s.Env+"="+value)
		}
	}
	return lines
}

// privateTrunkNetwork returns the network of a carrier whose host is a private or loopback address. The new service must
// allow this network, because egress rules forbid such addresses by default.
func (a *Answers) privateTrunkNetwork() (string, bool) {
	ip, err := netip.ParseAddr(a.TrunkHost)
	if err != nil || !ip.IsPrivate() && !ip.IsLoopback() {
		return "", false
	}
	return netip.PrefixFrom(ip, ip.BitLen()).String(), true
}

// LoadConfig checks the answers, including those about the trunk. It returns the configuration that the service will
// have.
func (a *Answers) LoadConfig() (*configs.Config, error) {
	if strings.ContainsAny(strings.Join(a.EnvironmentLines(), ""), "\r\n\x00") {
		return nil, errors.New("an answer must fit on one line")
	}
	if a.TrunkHost == "" && (a.TestCall != "" || a.TrunkUser != "" || a.CallerID != "") {
		return nil, errors.New("--trunk-host is required with --test-call, --trunk-user or --caller-id")
	}
	if a.TestCall != "" && a.CallerID == "" {
		return nil, errors.New("--caller-id is required with --test-call")
	}
	if (a.TrunkUser == "") != (a.TrunkPassword == "") {
		return nil, errors.New("a trunk needs both a user name and a password, or neither")
	}
	if a.TrunkHost != "" && !slices.Contains([]string{"udp", "tcp", "tls"}, a.TrunkTransport) {
		return nil, errors.New("--trunk-transport must be udp, tcp or tls")
	}
	if a.TrunkPort < 0 || a.TrunkPort > 65535 {
		return nil, errors.New("--trunk-port must be 1 to 65535, or 0 for the default port")
	}
	return configs.Load("", a.EnvironmentLines(), nil)
}

// fileHeader is the comment at the beginning of the file of environment variables.
const fileHeader = `# Written by callboard init. The service reads it: callboard serve --env-file FILE.
# Every setting: docs/configuration.md
`

// WriteEnvFile writes the file of environment variables, readable only by its owner. It fails if the file exists and
// replace is false.
func (a *Answers) WriteEnvFile(path string, replace bool) error {
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	part := path
	if replace {
		part = path + ".part"
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(part, mode, 0o600) //nolint:gosec // the operator names it
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists already: use --force to replace it", path)
	}
	if err != nil {
		return err
	}
	lines := a.EnvironmentLines()
	for i, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		lines[i] = name + "=" + quoteValue(value)
	}
	_, err = f.WriteString(fileHeader + strings.Join(lines, "\n") + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil && part != path {
		copyOwnerAndMode(part, path)
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}

// copyOwnerAndMode gives the new file the owner, the group and the permissions of the file that it replaces. A
// service that could read the old file can then read the new one.
func copyOwnerAndMode(part, path string) {
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Chown(part, int(st.Uid), int(st.Gid)) == nil {
		_ = os.Chmod(part, info.Mode().Perm()&0o640)
	}
}

// quoteValue quotes a value so that systemd, a shell and ReadEnvFile read it alike.
func quoteValue(value string) string {
	if strings.ContainsFunc(value, func(r rune) bool {
		return !strings.ContainsRune("-_./:,@+=[]", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	}
	return value
}

// maxEnvFileBytes limits the size of a file of environment variables.
const maxEnvFileBytes = 1 << 20

// ReadEnvFile reads a file of NAME=VALUE lines. Values with spaces need quotes; # begins a comment line.
func ReadEnvFile(path string) ([]string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []string
	lines := bufio.NewScanner(io.LimitReader(f, maxEnvFileBytes))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if ok {
			value, ok = unquoteValue(value)
		}
		if !ok || name == "" || strings.ContainsAny(name, " \t'\"") {
			return nil, fmt.Errorf("%s:%d: must be NAME=VALUE, with quotes around a value with spaces", path, n)
		}
		out = append(out, name+"="+value)
	}
	return out, lines.Err()
}

func unquoteValue(text string) (string, bool) {
	switch {
	case len(text) >= 2 && text[0] == '\'' && strings.HasSuffix(text, "'"):
		inner := strings.ReplaceAll(text[1:len(text)-1], `'\''`, "\x00")
		return strings.ReplaceAll(inner, "\x00", "'"), !strings.Contains(inner, "'")
	case strings.HasPrefix(text, `"`):
		inner, err := strconv.Unquote(text)
		return inner, err == nil
	}
	return text, !strings.ContainsAny(text, " \t'\"")
}

// NewTrunk returns the first trunk as a request body of the API.
func (a *Answers) NewTrunk() *client.NewTrunk {
	proxy := client.NewProxy{Host: a.TrunkHost, Transport: &a.TrunkTransport}
	if a.TrunkPort != 0 {
		proxy.Port = new(int64(a.TrunkPort))
	}
	t := &client.NewTrunk{Name: a.TrunkHost, Proxies: []client.NewProxy{proxy}, Register: &a.TrunkRegister}
	if a.CallerID != "" {
		t.CallerIDs = []string{a.CallerID}
	}
	if a.TrunkUser != "" {
		t.Auth = &client.NewTrunkAuth{Username: a.TrunkUser, Password: &a.TrunkPassword}
	}
	return t
}
