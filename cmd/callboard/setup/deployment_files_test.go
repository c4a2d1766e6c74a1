package setup_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/setup"
	"github.com/callboard/callboard/configs"
)

const deploy = "../../../deploy/"

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(deploy + path)
	require.NoError(t, err)
	return string(text)
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	out, err := yaml.Parser().Unmarshal([]byte(text))
	require.NoError(t, err, text)
	return out
}

// at returns the value at a path of a YAML document, such as a.0.b.
func at(t *testing.T, v any, path string) any {
	t.Helper()
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			var i int
			_, err := fmt.Sscan(name, &i)
			require.NoError(t, err)
			require.Greater(t, len(x), i, path)
			v = x[i]
		default:
			require.Fail(t, "the path does not exist", "%s: %s in %v", path, name, v)
		}
	}
	return v
}

// loadConfig checks that the service accepts the environment variables of a deployment, and returns the configuration. File
// variables get the name of an existing file.
func loadConfig(t *testing.T, env map[string]string) *configs.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	var lines []string
	for name, value := range env {
		if strings.HasSuffix(name, "_FILE") || strings.HasPrefix(name, "CALLBOARD_TLS_") {
			value = file
		}
		lines = append(lines, name+"="+value)
	}
	cfg, err := configs.Load("", lines, nil)
	require.NoError(t, err)
	return cfg
}

func TestSystemdUnitIsValidAndSandboxed(t *testing.T) {
	unit := read(t, "systemd/callboard.service")
	for _, line := range []string{"User=callboard", "NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=", "StateDirectory=callboard", "LimitNOFILE=1048576", "SystemCallFilter=@system-service", "Type=notify", "WatchdogSec=30s", "ExecStart=/usr/bin/callboard serve --env-file /etc/callboard/callboard.env", "ExecReload=/bin/kill -HUP $MAINPID"} {
		assert.Contains(t, strings.Split(unit, "\n"), line)
	}
	path, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return // without systemd its check of the unit is skipped
	}
	here := filepath.Join(t.TempDir(), "callboard.service")
	unit = strings.NewReplacer("/usr/bin/callboard serve", "/bin/true serve", "User=callboard", "User=daemon", "Group=callboard", "Group=daemon").Replace(unit)
	unit = regexp.MustCompile(`(?m)^Documentation=.*\n`).ReplaceAllString(unit, "")
	require.NoError(t, os.WriteFile(here, []byte(unit), 0o600))
	out, err := exec.CommandContext(t.Context(), path, "verify", "--recursive-errors=no", here).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Empty(t, strings.TrimSpace(string(out)))
	out, err = exec.CommandContext(t.Context(), path, "security", "--offline=true", "--threshold=25", here).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestSystemdUnitVariablesAreSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "callboard.env")
	text := read(t, "systemd/callboard.env")
	require.NoError(t, os.WriteFile(path, []byte(regexp.MustCompile(`(?m)^#(CALLBOARD_)`).ReplaceAllString(text, "$1")), 0o600))
	lines, err := setup.ReadEnvFile(path)
	require.NoError(t, err)
	env := make(map[string]string)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		env[name] = value
	}
	assert.Greater(t, len(env), 5)
	loadConfig(t, env)
}

func TestImageIsUnprivilegedAndHasEmbeddedEngines(t *testing.T) {
	var stages []string
	last := make(map[string]string)
	for line := range strings.SplitSeq(strings.ReplaceAll(read(t, "docker/Dockerfile"), "\\\n", ""), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if word == "FROM" {
			stages, last = append(stages, rest), make(map[string]string)
		}
		last[word] = rest
	}
	require.Len(t, stages, 2)
	assert.Regexp(t, `^debian:\w+-slim$`, stages[1])
	assert.Equal(t, "65532:65532", last["USER"])
	assert.Equal(t, `["/usr/bin/callboard"]`, last["ENTRYPOINT"])
	for _, part := range []string{"ca-certificates", "espeak-ng", "pocketsphinx", "pocketsphinx-en-us"} {
		assert.Contains(t, strings.Fields(last["RUN"]), part)
	}
	mod, err := os.ReadFile("../../../go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (1\.\d+)`).FindSubmatch(mod)
	assert.Contains(t, stages[0], "golang:"+string(version[1])+"-", "the Go version of go.mod")
}

func TestComposeFileHasRequiredSettings(t *testing.T) {
	text := read(t, "compose/compose.yaml")
	text = regexp.MustCompile(`\$\{PUBLIC_IP[^}]*\}`).ReplaceAllString(text, "192.0.2.10")
	text = regexp.MustCompile(`\$\{\w+:-([^}]*)\}`).ReplaceAllString(text, "$1")
	assert.NotContains(t, text, "${")
	file := parsed(t, text)
	services, ok := file["services"].(map[string]any)
	require.True(t, ok)
	assert.Equal(t, []string{"callboard", "kamailio", "redis"}, slices.Sorted(maps.Keys(services)))
	env := make(map[string]string)
	set, ok := at(t, services, "callboard.environment").(map[string]any)
	require.True(t, ok)
	for name, value := range set {
		env[name] = fmt.Sprint(value)
	}
	cfg := loadConfig(t, env)
	dispatcher, ok := at(t, file, "configs.dispatcher.content").(string)
	require.True(t, ok)
	assert.Contains(t, dispatcher, "1 sip:"+cfg.SIP.Addr.String()+";transport=udp", "Kamailio sends calls to the service's SIP address")
	redis := fmt.Sprint(at(t, services, "redis.command"))
	for _, policy := range []string{"--appendonly yes", "--appendfsync always", "--maxmemory-policy noeviction"} {
		assert.Contains(t, redis, policy)
	}
	for _, name := range []string{"callboard", "redis"} {
		assert.Equal(t, []any{"ALL"}, at(t, services, name+".cap_drop"), name)
		assert.Equal(t, true, at(t, services, name+".read_only"), name)
	}
	for _, mount := range at(t, services, "kamailio.volumes").([]any) {
		from, _, _ := strings.Cut(mount.(string), ":")
		assert.FileExists(t, filepath.Join(deploy, "compose", from))
	}
	assert.FileExists(t, filepath.Join(deploy, "compose", at(t, services, "callboard.build.context").(string), at(t, services, "callboard.build.dockerfile").(string)))
}

// renderChart renders the Helm chart with the given values and returns the Kubernetes objects.
func renderChart(t *testing.T, values map[string]any) map[string]map[string]any {
	t.Helper()
	created, err := charted(t, values)
	require.NoError(t, err)
	return created
}

func charted(t *testing.T, values map[string]any) (map[string]map[string]any, error) {
	t.Helper()
	tpl := template.New("chart").Option("missingkey=zero") // like Helm
	tpl.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b bytes.Buffer
			err := tpl.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"nindent": func(n int, text string) string {
			pad := "\n" + strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(strings.TrimSpace(text), "\n", pad)
		},
		"toYaml": func(v any) (string, error) {
			text, err := yaml.Parser().Marshal(map[string]any{"x": v})
			_, rest, _ := strings.Cut(string(text), "\n")
			lines := strings.Split(rest, "\n")
			for i := range lines {
				lines[i] = strings.TrimPrefix(lines[i], "    ")
			}
			return strings.Join(lines, "\n"), err
		},
		"default": func(usual, v any) any {
			if v == nil || v == "" {
				return usual
			}
			return v
		},
		"quote":      func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"toString":   func(v any) string { return fmt.Sprint(v) },
		"trunc":      func(n int, text string) string { return text[:min(n, len(text))] },
		"trimSuffix": func(end, text string) string { return strings.TrimSuffix(text, end) },
		"add":        func(a, b int) int { return a + b },
		"int":        func(v any) int { n, _ := strconv.Atoi(fmt.Sprint(v)); return n },
		"regexMatch": regexp.MatchString,
		"fail":       func(text string) (string, error) { return "", errors.New(text) },
	})
	files, err := filepath.Glob(deploy + "helm/callboard/templates/*")
	require.NoError(t, err)
	_, err = tpl.ParseFiles(files...)
	require.NoError(t, err)
	about := parsed(t, read(t, "helm/callboard/Chart.yaml"))
	data := map[string]any{
		"Values": values, "Release": map[string]any{"Name": "north"},
		"Chart": map[string]any{"Name": about["name"], "AppVersion": about["appVersion"]},
	}
	out := make(map[string]map[string]any)
	for _, f := range files {
		if filepath.Ext(f) != ".yaml" {
			continue
		}
		var b bytes.Buffer
		if err := tpl.ExecuteTemplate(&b, filepath.Base(f), data); err != nil {
			return nil, err
		}
		require.NotContains(t, b.String(), "<no value>")
		if strings.TrimSpace(b.String()) == "" {
			continue
		}
		one := parsed(t, b.String())
		kind := fmt.Sprint(one["kind"])
		if filepath.Base(f) == "nodes.yaml" {
			kind = "Nodes"
		}
		out[kind] = one
	}
	return out, nil
}

func TestHelmChartSetsPublicIPOnlyForWildcardSIPAddress(t *testing.T) {
	for listens, everywhere := range map[string]bool{
		"0.0.0.0:5060": true, "[::]:5060": true, ":5060": true, "udp://192.0.2.10:5060, tls://[::]:5061": true, "tls://0.0.0.0:5061": true,
		"192.0.2.10:5060": false, "[2001:db8::1]:5060": false, "udp://10.0.0.0:5060": false, "tls://192.0.2.10:5061,udp://192.0.2.10:5060": false, "": false,
	} {
		values := parsed(t, read(t, "helm/callboard/values.yaml"))
		values["settings"].(map[string]any)["SIP_ADDR"] = listens
		env := fmt.Sprint(at(t, renderChart(t, values)["StatefulSet"], "spec.template.spec.containers.0.env"))
		assert.Equal(t, everywhere, strings.Contains(env, "status.hostIP"), listens)
	}
}

func TestHelmChartAcceptsValuesOfOlderRelease(t *testing.T) {
	values := parsed(t, read(t, "helm/callboard/values.yaml"))
	delete(values, "tls")
	settings, _ := values["settings"].(map[string]any)
	delete(settings, "PUBLIC_IP")
	scheme := "spec.template.spec.containers.0.readinessProbe.httpGet.scheme"
	set := renderChart(t, values)["StatefulSet"]
	assert.Equal(t, "HTTP", at(t, set, scheme))
	assert.Contains(t, fmt.Sprint(at(t, set, "spec.template.spec.containers.0.env")), "status.hostIP")
	settings["TLS_CERT"] = "/data/tls.crt"
	assert.Equal(t, "HTTPS", at(t, renderChart(t, values)["StatefulSet"], scheme), "a certificate configured by its setting")
	values["tls"] = map[string]any{"secretName": "the-tls"}
	_, err := charted(t, values)
	assert.ErrorContains(t, err, "tls.secretName and settings.TLS_CERT")
}

func TestHelmChartCreatesSingleServiceWithVolume(t *testing.T) {
	values := parsed(t, read(t, "helm/callboard/values.yaml"))
	for _, secrets := range []bool{false, true} {
		if secrets {
			values["settings"].(map[string]any)["PUBLIC_IP"] = "192.0.2.10"
			for _, name := range []string{"tls", "masterKey", "redis", "engines"} {
				values[name] = map[string]any{"secretName": "the-" + name}
			}
			values["nodeSelector"] = map[string]any{"disk": "fast"}
			values["tolerations"] = []any{map[string]any{"key": "calls", "operator": "Exists"}}
			values["imagePullSecrets"] = []any{map[string]any{"name": "pull"}}
			values["persistence"].(map[string]any)["storageClass"] = "local"
		}
		created := renderChart(t, values)
		set := created["StatefulSet"]
		assert.Equal(t, 1, at(t, set, "spec.replicas"))
		assert.Len(t, created, 2, "a single node has no cluster resources")
		pod := at(t, set, "spec.template.spec")
		box := at(t, pod, "containers.0")
		assert.Equal(t, true, at(t, pod, "securityContext.runAsNonRoot"))
		assert.Equal(t, true, at(t, box, "securityContext.readOnlyRootFilesystem"))
		assert.Equal(t, []any{"ALL"}, at(t, box, "securityContext.capabilities.drop"))
		assert.Equal(t, "callboard:dev", at(t, box, "image"))
		assert.Equal(t, 90, at(t, pod, "terminationGracePeriodSeconds"))
		assert.Equal(t, "/readyz", at(t, box, "readinessProbe.httpGet.path"))
		assert.Equal(t, at(t, set, "spec.selector.matchLabels"), at(t, created["Service"], "spec.selector"))
		assert.Equal(t, "50Gi", at(t, set, "spec.volumeClaimTemplates.0.spec.resources.requests.storage"))
		env := make(map[string]string)
		for _, one := range at(t, box, "env").([]any) {
			name, _ := at(t, one, "name").(string)
			assert.NotContains(t, env, name, "twice")
			value, ok := at(t, one, "value").(string)
			switch {
			case ok:
			case name == "CALLBOARD_PUBLIC_IP":
				assert.Equal(t, "status.hostIP", at(t, one, "valueFrom.fieldRef.fieldPath"))
				value = "192.0.2.20"
			default:
				value = "redis://redis:6379/0"
			}
			env[name] = value
		}
		cfg := loadConfig(t, env)
		assert.EqualValues(t, at(t, box, "ports.0.containerPort"), cfg.HTTP.Addr.Port())
		assert.Equal(t, secrets, cfg.RedisURL.Reveal() != "")
		assert.Equal(t, map[bool]string{true: "192.0.2.10", false: "192.0.2.20"}[secrets], cfg.PublicIP.String())
		assert.Equal(t, map[bool]any{true: "HTTPS", false: "HTTP"}[secrets], at(t, box, "readinessProbe.httpGet.scheme"))
		assert.Equal(t, secrets, env["CALLBOARD_TLS_KEY"] == "/secrets/tls/tls.key")
		assert.Equal(t, secrets, env["CALLBOARD_MASTER_KEY_FILE"] == "/secrets/master/master.key")
		if secrets {
			assert.Equal(t, map[string]any{"disk": "fast"}, at(t, pod, "nodeSelector"))
			assert.Equal(t, "Exists", at(t, pod, "tolerations.0.operator"))
			assert.Equal(t, "pull", at(t, pod, "imagePullSecrets.0.name"))
			assert.Equal(t, "the-engines", at(t, pod, "volumes.3.secret.secretName"))
		}
	}
}

func TestDebianPackageContainsFilesOfSystemdUnit(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), deploy+"debian/build", "/bin/true", "v1.2.3-4-gabc", t.TempDir()).Output()
	require.NoError(t, err)
	deb := strings.TrimSpace(string(out))
	assert.Regexp(t, `/callboard_1\.2\.3\+4\+gabc_\w+\.deb$`, deb)
	list, err := exec.CommandContext(t.Context(), "dpkg-deb", "--contents", deb).Output()
	require.NoError(t, err)
	for _, line := range []string{
		`(?m)^drwxr-xr-x root/root +0 .* \./$`, `(?m)^-rwxr-xr-x root/root .* \./usr/bin/callboard$`, `(?m)^-rw-r--r-- root/root .* \./lib/systemd/system/callboard\.service$`,
		`(?m)^-rw-r----- root/root .* \./etc/callboard/callboard\.env$`, `(?m) \./usr/share/doc/callboard/operations\.md$`, `(?m) \./usr/share/doc/callboard/copyright$`,
	} {
		assert.Regexp(t, line, string(list))
	}
	dir := t.TempDir()
	require.NoError(t, exec.CommandContext(t.Context(), "dpkg-deb", "--control", deb, dir).Run())
	control, err := os.ReadFile(filepath.Join(dir, "control"))
	require.NoError(t, err)
	assert.NotRegexp(t, `@[A-Z]+@`, string(control))
	assert.Regexp(t, `(?m)^Installed-Size: \d+$`, string(control))
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-n", filepath.Join(dir, script)).CombinedOutput()
		require.NoError(t, err, "%s: %s", script, out)
	}
	_, err = exec.CommandContext(t.Context(), deploy+"debian/build", "/bin/true").Output()
	require.Error(t, err)
}
