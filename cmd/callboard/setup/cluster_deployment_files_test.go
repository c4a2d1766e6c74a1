package setup_test

import (
	"bytes"
	"context"
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
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/sip/siptest"
)

// parseComposeFile returns the compose file of the cluster with values for all variables.
func parseComposeFile(t *testing.T) map[string]any {
	t.Helper()
	text := read(t, "compose/cluster.yaml")
	for name, value := range map[string]string{
		"SELF": "10.0.0.11", "ADDR_1": "10.0.0.11", "ADDR_2": "10.0.0.12", "ADDR_3": "10.0.0.13", "REDIS_PASSWORD": "secret",
		"BLOBS_URL": "s3://calls?endpoint=http://10.0.0.20:7070", "BLOBS_ACCESS": "a", "BLOBS_SECRET": "b",
	} {
		text = regexp.MustCompile(`\$\{`+name+`(:\?[^}]*)?\}`).ReplaceAllLiteralString(text, value)
	}
	text = regexp.MustCompile(`\$\{\w+:-([^}]*)\}`).ReplaceAllString(text, "$1")
	assert.NotContains(t, text, "${")
	return parsed(t, text)
}

// environmentOf returns the variables of an environment section in the compose file as strings.
func environmentOf(t *testing.T, of any) map[string]string {
	t.Helper()
	set, ok := of.(map[string]any)
	require.True(t, ok)
	out := make(map[string]string)
	for name, value := range set {
		out[name] = fmt.Sprint(value)
	}
	return out
}

func TestComposeClusterNodesHaveMatchingSettings(t *testing.T) {
	file := parseComposeFile(t)
	services, ok := file["services"].(map[string]any)
	require.True(t, ok)
	volumes, ok := file["volumes"].(map[string]any)
	require.True(t, ok)
	var nodes []*configs.Config
	taken, mounted, ports := map[string]string{}, map[string]bool{}, configs.PortRange{}
	claim := func(what, by string) {
		assert.Empty(t, taken[what], "%s is used by both %s and %s", what, taken[what], by)
		taken[what] = by
	}
	dispatcher, ok := at(t, file, "configs.dispatcher.content").(string)
	require.True(t, ok)
	for name, v := range services {
		for _, mount := range anyList(at(t, v, "volumes")) {
			from, _, _ := strings.Cut(mount, ":")
			if strings.HasPrefix(from, ".") {
				assert.FileExists(t, filepath.Join(deploy, "compose", from), name)
				continue
			}
			assert.Contains(t, volumes, from)
			claim("volume "+from, name)
			mounted[from] = true
		}
		assert.NotEmpty(t, anyList(at(t, v, "profiles")), "%s has no profile and would run on every machine", name)
		if name != "kamailio" {
			assert.Equal(t, []string{"ALL"}, anyList(at(t, v, "cap_drop")), name)
			assert.Equal(t, true, at(t, v, "read_only"), name)
		}
		kind, n, _ := strings.Cut(name, "-")
		switch kind {
		case "callboard":
			env := environmentOf(t, at(t, v, "environment"))
			cfg := loadConfig(t, env)
			nodes = append(nodes, cfg)
			assert.Equal(t, "10.0.0.1"+n, cfg.Node.Addr.Addr().String())
			for _, addr := range []string{cfg.Node.Addr.String(), cfg.HTTP.Addr.String(), cfg.HTTP.AdminAddr.String(), cfg.SIP.Addr.String()} {
				claim(addr[strings.LastIndex(addr, ":"):], name)
			}
			assert.False(t, ports.High >= cfg.Media.Ports.Low && cfg.Media.Ports.High >= ports.Low, "overlapping media ports of two nodes on one machine")
			ports = cfg.Media.Ports
			assert.Contains(t, dispatcher, "1 sip:"+cfg.SIP.Addr.String()+";transport=udp", "Kamailio sends calls to the node's SIP address")
			assert.Equal(t, []string{n}, anyList(at(t, v, "profiles")))
		case "redis", "sentinel":
			claim(":"+environmentOf(t, at(t, v, "environment"))["PORT"], name)
			assert.Equal(t, []string{n}, anyList(at(t, v, "profiles")))
		}
	}
	assert.Len(t, mounted, len(volumes), "all volumes are mounted")
	require.Len(t, nodes, 3)
	for _, n := range nodes[1:] {
		assert.Equal(t, nodes[0].RedisURL.Reveal(), n.RedisURL.Reveal())
		assert.Equal(t, nodes[0].Blobs, n.Blobs)
		assert.Equal(t, nodes[0].Node.LeaseDuration, n.Node.LeaseDuration)
		assert.Equal(t, nodes[0].Egress.AllowedNetworks, n.Egress.AllowedNetworks)
	}
	assert.Equal(t, []string{
		"callboard-1", "callboard-2", "callboard-3", "kamailio", "objects", "redis-1", "redis-2", "redis-3", "sentinel-1", "sentinel-2", "sentinel-3", "way",
	}, slices.Sorted(maps.Keys(services)))
}

func anyList(v any) (out []string) {
	list, _ := v.([]any)
	for _, one := range list {
		out = append(out, fmt.Sprint(one))
	}
	return out
}

// run starts a program that ends with the test.
func run(t *testing.T, env []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
	cmd.Env = append(os.Environ(), env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start(), "%s must be installed: make tools", name)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s %v: %s", name, args, output.String())
		}
	})
	return cmd
}

// Redis, the sentinels and HAProxy run with the commands of the compose file. After a kill of the primary, redis_url
// must lead to the new primary, and the restarted old primary must follow it.
func TestRedisProxyFollowsSentinelFailover(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs(deploy + "compose/redis.sh")
	require.NoError(t, err)
	dir := t.TempDir()
	cfg := read(t, "compose/haproxy.cfg")
	common := []string{"PASSWORD=secret", "REDIS_PASSWORD=secret", "FIRST_ADDR=127.0.0.1", "ADDR=127.0.0.1", "ADDR_1=127.0.0.1", "ADDR_2=127.0.0.1", "ADDR_3=127.0.0.1", "MEMORY=100mb"}
	port := make(map[string]string)
	for _, was := range []string{"6379", "26381", "26382", "26383", "6381", "6382", "6383"} {
		port[was] = strconv.Itoa(siptest.Port(t))
		cfg = regexp.MustCompile(`\b`+was+`\b`).ReplaceAllString(cfg, port[was])
		cfg = strings.ReplaceAll(cfg, `\n`+was, `\n`+port[was])
	}
	common = append(common, "FIRST_PORT="+port["6381"])
	begin := func(kind, was string) *exec.Cmd {
		folder := filepath.Join(dir, was)
		require.NoError(t, os.MkdirAll(folder, 0o700))
		return run(t, append(slices.Clone(common), "PORT="+port[was], "FOLDER="+folder), "sh", script, kind)
	}
	var first *exec.Cmd
	for n := 3; n > 0; n-- {
		first = begin("redis", fmt.Sprint("638", n))
		begin("sentinel", fmt.Sprint("2638", n))
	}
	path := filepath.Join(dir, "haproxy.cfg")
	require.NoError(t, os.WriteFile(path, []byte(cfg), 0o600))
	run(t, common, "haproxy", "-f", path)

	ask := func(at string) *goredis.Client {
		c := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:" + at, Password: "secret", MaxRetries: -1, DialTimeout: time.Second, ReadTimeout: 2 * time.Second})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	way, n := ask(port["6379"]), 0
	writes := func() bool { n++; return way.Set(t.Context(), "key", n, 0).Err() == nil }
	require.Eventually(t, writes, time.Minute, 50*time.Millisecond, "Redis accepts no writes")
	primary := func() string {
		all, err := way.Info(t.Context(), "server").Result()
		require.NoError(t, err)
		return regexp.MustCompile(`tcp_port:(\d+)`).FindStringSubmatch(all)[1]
	}
	require.Equal(t, port["6381"], primary())
	sentinels := []*goredis.Client{ask(port["26381"]), ask(port["26382"]), ask(port["26383"])}
	require.Eventually(t, func() bool { // sentinels query the primary for its replicas every ten seconds
		for _, c := range sentinels {
			output, err := c.Do(t.Context(), "SENTINEL", "MASTER", "callboard").Result()
			known, _ := output.(map[any]any)
			if err != nil || known["num-slaves"] != "2" || known["num-other-sentinels"] != "2" {
				return false
			}
		}
		all, err := way.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(all, "min_slaves_good_slaves:2")
	}, time.Minute, 50*time.Millisecond, "the sentinels do not find each other and the replica")
	policy, err := way.ConfigGet(t.Context(), "*").Result()
	require.NoError(t, err)
	for name, value := range map[string]string{"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction", "min-replicas-to-write": "1"} {
		assert.Equal(t, value, policy[name], name)
	}

	require.NoError(t, first.Process.Kill())
	_ = first.Wait()
	require.Eventually(t, writes, time.Minute, 20*time.Millisecond, "no replica becomes the primary")
	assert.NotEqual(t, port["6381"], primary())
	begin("redis", "6381")
	old := ask(port["6381"])
	require.Eventually(t, func() bool {
		all, err := old.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(all, "role:slave") && strings.Contains(all, "master_link_status:up")
	}, time.Minute, 50*time.Millisecond, "the old primary does not become a replica")
	kept, err := old.Get(t.Context(), "key").Int()
	require.NoError(t, err)
	assert.Equal(t, n, kept)
}

func TestHelmChartPlacesNodesOnDifferentMachines(t *testing.T) {
	values := parsed(t, read(t, "helm/callboard/values.yaml"))
	values["nodes"] = 3
	for _, secret := range []string{"redis", "masterKey"} {
		_, err := charted(t, values)
		require.ErrorContains(t, err, secret+".secretName")
		values[secret] = map[string]any{"secretName": "the-" + secret}
	}
	_, err := charted(t, values)
	require.ErrorContains(t, err, "settings.BLOBS_URL")
	values["bucketKey"] = map[string]any{"secretName": "the-bucket"}
	values["settings"].(map[string]any)["BLOBS_URL"] = "s3://calls"
	created := renderChart(t, values)
	set := created["StatefulSet"]
	assert.Equal(t, 3, at(t, set, "spec.replicas"))
	pod := at(t, set, "spec.template.spec")
	box := at(t, pod, "containers.0")
	assert.Equal(t, 95, at(t, pod, "terminationGracePeriodSeconds"), "the grace period covers preStop and the drain")
	assert.Equal(t, 5, at(t, box, "lifecycle.preStop.sleep.seconds"))
	apart := at(t, pod, "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.0")
	labels := at(t, set, "spec.selector.matchLabels")
	assert.Equal(t, labels, at(t, apart, "labelSelector.matchLabels"))
	assert.Equal(t, "kubernetes.io/hostname", at(t, apart, "topologyKey"))
	assert.Equal(t, 1, at(t, created["PodDisruptionBudget"], "spec.maxUnavailable"))
	assert.Equal(t, labels, at(t, created["PodDisruptionBudget"], "spec.selector.matchLabels"))
	assert.Equal(t, "None", at(t, created["Nodes"], "spec.clusterIP"))
	assert.Equal(t, labels, at(t, created["Nodes"], "spec.selector"))
	assert.Equal(t, at(t, box, "ports.1.name"), at(t, created["Nodes"], "spec.ports.0.targetPort"))
	env, before := make(map[string]string), ""
	for _, one := range anyMaps(at(t, box, "env")) {
		name, _ := one["name"].(string)
		value, ok := one["value"].(string)
		switch {
		case name == "CALLBOARD_NODE_ADDR":
			assert.Equal(t, "POD_IP", before, "Kubernetes expands only variables that are defined before")
			assert.Equal(t, "$(POD_IP):8090", value)
			value = strings.Replace(value, "$(POD_IP)", "10.0.0.7", 1)
		case !ok && name == "CALLBOARD_REDIS_URL":
			value = "redis://redis:6379/0"
		case !ok:
			value = "192.0.2.20"
		}
		if before = name; name != "POD_IP" {
			env[name] = value
		}
	}
	assert.Equal(t, "/secrets/bucket/bucket.key", env["CALLBOARD_BLOBS_KEY_FILE"])
	delete(env, "CALLBOARD_BLOBS_KEY_FILE") // the reader provides the content of this file
	cfg := loadConfig(t, env)
	assert.EqualValues(t, at(t, box, "ports.1.containerPort"), cfg.Node.Addr.Port())

	values["affinity"] = map[string]any{"nodeAffinity": map[string]any{}}
	values["preStopSeconds"] = 0
	pod = at(t, renderChart(t, values)["StatefulSet"], "spec.template.spec")
	assert.NotContains(t, fmt.Sprint(at(t, pod, "affinity")), "podAntiAffinity", "the operator's affinity replaces the default")
	assert.Equal(t, 90, at(t, pod, "terminationGracePeriodSeconds"))
	assert.NotContains(t, fmt.Sprint(pod), "preStop")
}

func anyMaps(v any) (out []map[string]any) {
	list, _ := v.([]any)
	for _, one := range list {
		m, _ := one.(map[string]any)
		out = append(out, m)
	}
	return out
}
