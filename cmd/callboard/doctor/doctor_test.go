package doctor_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/doctor"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/sip/siptest"
)

// childProcessEnv names the environment variable with the data folder to check. If it is set, the test binary runs
// all checks as a child process and prints the findings as JSON.
const childProcessEnv = "DOCTOR_TEST_PATIENT"

func TestMain(m *testing.M) {
	if data := os.Getenv(childProcessEnv); data != "" {
		cfg, err := configs.Load("", []string{"CALLBOARD_DATA=" + data}, nil)
		v := &doctor.Diagnosis{Config: cfg, ConfigError: err, Running: true}
		_ = json.NewEncoder(os.Stdout).Encode(v.Run(context.Background()))
		return
	}
	os.Exit(m.Run())
}

// fixture is a healthy configuration of a service into which each test case introduces one fault.
type fixture struct {
	*testing.T
	dir, data     string
	env           []string
	diagnosis     *doctor.Diagnosis
	childFindings []doctor.Finding // findings of a child process; nil: run diagnosis
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	b := &fixture{T: t, dir: dir, data: filepath.Join(dir, "data"), diagnosis: &doctor.Diagnosis{}}
	require.NoError(t, os.Mkdir(b.data, 0o700))
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	low := siptest.MediaPorts400(t)
	b.setSetting("data", b.data).setSetting("http_addr", fmt.Sprintf("127.0.0.1:%d", siptest.Port(t))).setSetting("sip_addr", fmt.Sprintf("127.0.0.1:%d", siptest.Port(t)))
	b.setSetting("media_ports", fmt.Sprintf("%d-%d", low, low+199)).setSetting("master_key_file", b.writeFile("master.key", string(key)))
	return b
}

// setSetting sets a setting or replaces its value.
func (b *fixture) setSetting(key, value string) *fixture {
	name := "CALLBOARD_" + strings.ToUpper(key) + "="
	b.env = append(slices.DeleteFunc(b.env, func(line string) bool { return strings.HasPrefix(line, name) }), name+value)
	return b
}

func (b *fixture) setting(key string) string {
	name := "CALLBOARD_" + strings.ToUpper(key) + "="
	i := slices.IndexFunc(b.env, func(line string) bool { return strings.HasPrefix(line, name) })
	return strings.TrimPrefix(b.env[i], name)
}

func (b *fixture) writeFile(name, text string) string {
	b.Helper()
	path := filepath.Join(b.dir, name)
	require.NoError(b, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (b *fixture) diagnose() []doctor.Finding {
	b.Helper()
	if b.childFindings != nil {
		return b.childFindings
	}
	b.diagnosis.Config, b.diagnosis.ConfigError = configs.Load("", b.env, nil)
	b.diagnosis.Env = b.env
	return b.diagnosis.Run(b.Context())
}

// diagnoseInProcess runs the given command, which starts the test binary as a child process. It reads the findings
// that the child prints.
func (b *fixture) diagnoseInProcess(name string, args ...string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), name, args...)
	cmd.Env = append(os.Environ(), childProcessEnv+"="+b.data)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(b, err, "%s", &errs)
	require.NoError(b, json.Unmarshal(out, &b.childFindings))
}

// occupyPort listens at an address until the test ends.
func (b *fixture) occupyPort(network, at string) {
	b.Helper()
	if network == "udp" {
		c, err := new(net.ListenConfig).ListenPacket(b.Context(), network, at)
		require.NoError(b, err)
		b.Cleanup(func() { _ = c.Close() })
		return
	}
	l, err := new(net.ListenConfig).Listen(b.Context(), network, at)
	require.NoError(b, err)
	b.Cleanup(func() { _ = l.Close() })
}

// unusedAddress returns an address at which nothing listens.
func (b *fixture) unusedAddress() string {
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	_ = l.Close()
	return l.Addr().String()
}

// leafCertificate returns a valid certificate template, which a case makes faulty.
func leafCertificate() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "calls.example.com"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * 24 * time.Hour),
	}
}

// useCertificate gives the HTTP listener a certificate that is self-signed or signed by an untrusted authority.
// bits > 0 selects an RSA key of that size.
func (b *fixture) useCertificate(c *x509.Certificate, bits int, self bool) *fixture {
	b.Helper()
	root, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(b, err)
	authority := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "an authority"}, NotBefore: c.NotBefore, NotAfter: c.NotAfter, IsCA: true, BasicConstraintsValid: true}
	var key any = root
	var public any = &root.PublicKey
	if bits > 0 {
		b.Setenv("GODEBUG", "rsa1024min=0")
		weak, err := rsa.GenerateKey(rand.Reader, bits)
		require.NoError(b, err)
		key, public = weak, &weak.PublicKey
	}
	if self {
		authority = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, authority, public, root)
	require.NoError(b, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(b, err)
	b.setSetting("tls_cert", b.writeFile("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))))
	return b.setSetting("tls_key", b.writeFile("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))))
}

func (b *fixture) chmod(path string, mode os.FileMode) {
	b.Helper()
	require.NoError(b, os.Chmod(path, mode))
}

// faultCases returns, by the name of the check, a function that introduces into a healthy fixture the fault that the
// check must report.
func faultCases() map[string]func(*fixture) {
	all := map[string]func(*fixture){
		"settings":          func(b *fixture) { b.setSetting("sip_adr", "127.0.0.1:5060") },
		"open_files":        func(b *fixture) { b.diagnoseInProcess("sh", "-c", `ulimit -n 200; exec "$0"`, os.Args[0]) },
		"espeak-ng":         func(b *fixture) { b.Setenv("PATH", b.dir) },
		"pocketsphinx":      func(b *fixture) { b.Setenv("PATH", b.dir) },
		"clock":             func(b *fixture) { b.diagnosis.ClockURL = b.startSlowClockServer() },
		"clock_turned_back": func(b *fixture) { b.setModifiedInFuture(b.writeFile("data/store.log", "x")) },
		"data_folder":       func(b *fixture) { b.setSetting("data", b.writeFile("no-folder", "")) },
		"data_mode":         func(b *fixture) { b.chmod(b.data, 0o755) },
		"data_owner":        func(b *fixture) { b.useForeignOwner() },
		"data_write":        func(b *fixture) { b.setSetting("data", "/proc/self") },
		"data_temporary":    func(b *fixture) { b.setSetting("data", b.createTemporaryFolder()) },
		"store_format": func(b *fixture) {
			b.diagnosis.UnknownFormatError = errors.New("written by a newer version")
			b.diagnosis.ReadStoreFormat = func(context.Context) (string, error) {
				return "", fmt.Errorf("store: %w", b.diagnosis.UnknownFormatError)
			}
		},
		"disk":       func(b *fixture) { b.diagnosis.MinFreeDisk = math.MaxInt64 }, // no disk has so much space
		"master_key": func(b *fixture) { b.writeFile("master.key", "too short") },
		"key_mode":   func(b *fixture) { b.chmod(b.writeFile("data/test.key", "svc_sk_test_x"), 0o644) },
		"admin_key":  func(b *fixture) { b.writeFile("data/admin.key", "svc_sk_live_x") },
		"http_port":  func(b *fixture) { b.occupyPort("tcp", b.setting("http_addr")) },
		"sip_port":   func(b *fixture) { b.occupyPort("udp", b.setting("sip_addr")) },
		"admin_port": func(b *fixture) {
			b.setSetting("admin_addr", "127.0.0.1:"+freePort(b.T))
			b.occupyPort("tcp", b.setting("admin_addr"))
		},
		"media_ports": func(b *fixture) {
			low, _, _ := strings.Cut(b.setting("media_ports"), "-")
			b.occupyPort("udp", "127.0.0.1:"+low)
		},
		"media_port_count": func(b *fixture) {
			low, _, _ := strings.Cut(b.setting("media_ports"), "-")
			b.setSetting("media_ports", low+"-"+low[:len(low)-1]+"9")
		},
		"nat":          func(b *fixture) { b.setSetting("sip_addr", "10.255.1.2:5060") },
		"sip_loopback": func(*fixture) {},
		"egress_open":  func(b *fixture) { b.setSetting("egress_allow", "0.0.0.0/0") },
		"engines_file": func(b *fixture) {
			b.setSetting("engines_file", b.writeFile("engines.yaml", "engines: {a: {kind: pigeon, tts: {}}}"))
		},
		"engines_mode": func(b *fixture) {
			b.setSetting("engines_file", b.writeFile("engines.yaml", "engines: {}\n"))
			b.chmod(b.setting("engines_file"), 0o666)
		},
		"engine":            func(b *fixture) { b.configureEngine("http://" + b.unusedAddress()) },
		"engine_key":        func(b *fixture) { b.configureEngine(b.startServer(http.StatusUnauthorized).URL) },
		"redis":             func(b *fixture) { b.setSetting("redis_url", "redis://"+b.unusedAddress()) },
		"redis_policy":      func(b *fixture) { b.startRedis("--maxmemory-policy", "allkeys-lru") },
		"redis_appendonly":  func(b *fixture) { b.startRedis("--appendonly", "no") },
		"redis_appendfsync": func(b *fixture) { b.startRedis("--appendfsync", "everysec") },
		"redis_memory":      func(b *fixture) { b.startRedis("--maxmemory", "0") },
		"egress":            func(b *fixture) { b.diagnosis.ReachURL = "https://" + b.unusedAddress() },
		"authorities":       func(b *fixture) { b.setSetting("egress_ca_file", b.writeFile("ca.pem", "no certificate")) },
		"service":           func(b *fixture) { b.diagnosis.Running = true },
		"http_unencrypted": func(b *fixture) {
			b.setSetting("http_addr", "0.0.0.0:"+freePort(b.T)).setSetting("insecure_http", "true")
		},
		"public_url": func(b *fixture) { b.setSetting("public_url", "http://10.1.2.3") },
		"socket_buffers": func(b *fixture) {
			b.diagnosis.SocketBuffer = 1 << 30 // no kernel grants so large a buffer
		},
		"address_elsewhere":  func(b *fixture) { b.setSetting("sip_addr", "192.0.2.1:5060") },
		"media_ephemeral":    func(b *fixture) { b.setSetting("media_ports", ephemeralPortRange(b)) },
		"public_ip":          func(b *fixture) { b.setSetting("public_ip", "10.1.2.3") },
		"public_url_name":    func(b *fixture) { b.setSetting("public_url", "https://calls.invalid") },
		"egress_metadata":    func(b *fixture) { b.setSetting("egress_allow", "169.254.0.0/16") },
		"egress_certificate": func(b *fixture) { b.diagnosis.ReachURL = b.startUntrustedServer() },
		"master_key_lost": func(b *fixture) {
			b.setSetting("master_key_file", "")
			require.NoError(b, os.Mkdir(filepath.Join(b.data, "store"), 0o700))
		},
		"master_key_mode": func(b *fixture) { b.chmod(b.setting("master_key_file"), 0o644) },
		"master_key_location": func(b *fixture) {
			require.NoError(b, os.Rename(b.setting("master_key_file"), filepath.Join(b.data, "master.key")))
			b.setSetting("master_key_file", "")
		},
		"master_key_entropy": func(b *fixture) { b.writeFile("master.key", strings.Repeat("42", 32)) },
		"data":               func(b *fixture) { b.setSetting("data", filepath.Join(b.dir, strings.Repeat("d", 300))) },
		"engine_unencrypted": func(b *fixture) { b.configureEngine("http://192.0.2.1") },
		"bucket":             func(b *fixture) { b.setBucketResult("", false, errors.New("the store answers 403 AccessDenied")) },
		"bucket_versions":    func(b *fixture) { b.setBucketResult("the bucket calls", true, nil) },
		"redis_no_password":  func(b *fixture) { b.setSetting("redis_url", "redis://192.0.2.1:6379") },
	}
	maps.Copy(all, serviceFaults())
	maps.Copy(all, nodeFaults())
	for check, spoil := range map[string]func(*x509.Certificate){
		"certificate_expired":       func(c *x509.Certificate) { c.NotBefore, c.NotAfter = c.NotBefore.Add(-48*time.Hour), c.NotBefore },
		"certificate_expires":       func(c *x509.Certificate) { c.NotAfter = time.Now().Add(24 * time.Hour) },
		"certificate_not_yet_valid": func(c *x509.Certificate) { c.NotBefore = time.Now().Add(24 * time.Hour) },
		"certificate_name":          func(c *x509.Certificate) { c.DNSNames = []string{"other.example.com"} },
		"certificate_chain":         func(*x509.Certificate) {},
	} {
		all[check] = func(b *fixture) {
			c := leafCertificate()
			spoil(c)
			b.useCertificate(c, 0, false).setSetting("public_url", "https://localhost")
		}
	}
	all["certificate_self_signed"] = func(b *fixture) { b.useCertificate(leafCertificate(), 0, true) }
	all["certificate_weak"] = func(b *fixture) { b.useCertificate(leafCertificate(), 1024, false) }
	all["certificate_key"] = func(b *fixture) { b.useCertificate(leafCertificate(), 0, true); b.writeFile("key.pem", "no key") }
	all["certificate_key_mode"] = func(b *fixture) { b.useCertificate(leafCertificate(), 0, true); b.chmod(b.setting("tls_key"), 0o644) }
	return all
}

func freePort(t *testing.T) string { return strconv.Itoa(siptest.Port(t)) }

func ephemeralPortRange(b *fixture) string {
	b.Helper()
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	require.NoError(b, err)
	low := 0
	_, err = fmt.Sscan(string(text), &low)
	require.NoError(b, err)
	return fmt.Sprintf("%d-%d", low, low+201)
}

// startSlowClockServer starts a server whose clock is ten minutes slow, and returns its URL.
func (b *fixture) startSlowClockServer() string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(-10*time.Minute).UTC().Format(http.TimeFormat))
	}))
	b.Cleanup(s.Close)
	return s.URL
}

func (b *fixture) setModifiedInFuture(path string) {
	b.Helper()
	ahead := time.Now().Add(time.Hour)
	require.NoError(b, os.Chtimes(path, ahead, ahead))
}

// useForeignOwner makes the data folder belong to another user. If the test runs as root, the folder also contains a
// file that belongs to root.
func (b *fixture) useForeignOwner() {
	b.Helper()
	if os.Geteuid() != 0 {
		b.setSetting("data", "/usr")
		return
	}
	b.writeFile("data/callboard.lock", "")
	require.NoError(b, os.Chown(b.data, 12345, 12345))
}

func (b *fixture) createTemporaryFolder() string {
	b.Helper()
	dir, err := os.MkdirTemp("/tmp", "doctor-")
	require.NoError(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (b *fixture) startServer(status int) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	b.Cleanup(s.Close)
	return s
}

func (b *fixture) startUntrustedServer() string {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = nil
	s.StartTLS()
	b.Cleanup(s.Close)
	return s.URL
}

func (b *fixture) setBucketResult(place string, versioned bool, err error) {
	b.diagnosis.TryBucket = func(context.Context) (string, bool, error) { return place, versioned, err }
}

func (b *fixture) configureEngine(url string) {
	b.Helper()
	b.setSetting("engines_file", b.writeFile("engines.yaml", "engines: {voice: {kind: openai, url: '"+url+"', key_file: "+b.writeFile("engine.key", "sk-x")+", tts: {}}}\n"))
}

func (b *fixture) startRedis(args ...string) {
	b.Helper()
	url, _ := redistest.Start(b.T, args...)
	b.setSetting("redis_url", url)
}

func findingsOf(list []doctor.Finding, check string) (out []doctor.Finding) {
	for _, f := range list {
		if f.Check == check && f.State != doctor.OK {
			out = append(out, f)
		}
	}
	return out
}

// checkName returns the name of the check that a test case covers. Test cases are named after the check, optionally
// followed by a variant in parentheses.
func checkName(name string) string {
	check, _, _ := strings.Cut(name, " ")
	return check
}

func TestEachFaultIsReportedWithRemedy(t *testing.T) {
	all := faultCases()
	assert.GreaterOrEqual(t, len(all), 70)
	for name, plant := range all {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			plant(b)
			list := b.diagnose()
			of := findingsOf(list, checkName(name))
			require.NotEmpty(t, of, "%+v", list)
			for _, f := range of {
				assert.NotEmpty(t, f.Message)
				assert.NotEmpty(t, f.Remedy, "finding %q has no remedy", f.Message)
			}
		})
	}
}

// Every check for which a test case introduces a fault must report no fault for a healthy service.
func TestHealthyServiceHasNoFindings(t *testing.T) {
	b := newFixture(t)
	ours := b.diagnose()
	assert.NotEqual(t, doctor.Bad, doctor.WorstState(ours), "%+v", ours)
	for check := range faultCases() {
		check, _, _ = strings.Cut(check, " ")
		switch check {
		case "sip_loopback": // the fixture listens on loopback
		case "espeak-ng", "pocketsphinx", "socket_buffers", "open_files", "disk": // depends on the machine
		default:
			assert.Empty(t, findingsOf(ours, check), check)
		}
	}
	url, _ := redistest.Start(t, "--maxmemory", "100mb")
	assert.Empty(t, findingsOf(b.setSetting("redis_url", url).diagnose(), "redis_memory"))
	b.diagnosis.ClockURL = b.startServer(http.StatusOK).URL
	assert.Empty(t, findingsOf(b.diagnose(), "clock"))
}

func TestFindingsContainNoSecrets(t *testing.T) {
	b := newFixture(t)
	b.configureEngine(b.startServer(http.StatusUnauthorized).URL)
	b.setSetting("redis_url", "redis://user:top-secret@"+b.unusedAddress())
	for _, f := range b.diagnose() {
		assert.NotContains(t, f.Message+f.Remedy, "top-secret")
		assert.NotContains(t, f.Message+f.Remedy, "sk-x")
	}
}

func TestWorstStateOfFindings(t *testing.T) {
	assert.Equal(t, doctor.OK, doctor.WorstState(nil))
	assert.Equal(t, doctor.Warn, doctor.WorstState([]doctor.Finding{{State: doctor.Warn}, {State: doctor.OK}}))
	assert.Equal(t, doctor.Bad, doctor.WorstState([]doctor.Finding{{State: doctor.Warn}, {State: doctor.Bad}, {State: doctor.OK}}))
}
