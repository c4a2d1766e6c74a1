package redis_test

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis"
)

// startFixedAnswerServer starts a server that answers every command with one line.
func startFixedAnswerServer(t *testing.T, line string) (url string) {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					if strings.HasPrefix(lines.Text(), "*") { // the beginning of a command
						_, _ = conn.Write([]byte(line))
					}
				}
			}()
		}
	}()
	return "redis://" + ln.Addr().String() + "/0"
}

func TestDiagnose(t *testing.T) {
	for line, want := range map[string]struct {
		what  string
		later bool
	}{
		"-LOADING Redis is loading the dataset in memory":                            {"is loading its data", true},
		"-READONLY You can't write against a read only replica.":                     {"is a replica at the moment", true},
		"-MASTERDOWN Link with MASTER is down":                                       {"is a replica at the moment", true},
		"-OOM command not allowed when used memory > 'maxmemory'.":                   {"is out of memory", true},
		"-NOREPLICAS Not enough good replicas to write.":                             {"has too few replicas to take commits", true},
		"-MISCONF Redis is configured to save RDB snapshots":                         {"cannot write to its disk", true},
		"-BUSY Redis is busy running a script.":                                      {"is busy with a script", true},
		"-ERR max number of clients reached":                                         {"has too many clients", true},
		"-WRONGPASS invalid username-password pair or user is disabled.":             {"refuses the user or the password", false},
		"-NOAUTH Authentication required.":                                           {"refuses the user or the password", false},
		"-NOPERM User x has no permissions to run the 'set' command":                 {"does not let this user do what the service needs", false},
		"-ERR DB index is out of range":                                              {"has no database of this number", false},
		"-ERR unknown command 'SETNX', with args beginning with: '{cb}format' '1' '": {"", false},
		"HTTP/1.1 400 Bad Request":                                                   {"", false},
	} {
		_, err := redis.Open(t.Context(), startFixedAnswerServer(t, line+"\r\n"), redis.Options{Wait: 10 * time.Second})
		require.Error(t, err, line)
		what, later := redis.Diagnose(err)
		assert.Equal(t, want.what, what, "%s: %v", line, err)
		assert.Equal(t, want.later, later, line)
	}
	for name, url := range map[string]string{"a closed port": "redis://127.0.0.1:1/0", "a name that does not exist": "redis://redis.invalid:6379/0"} {
		_, err := redis.Open(t.Context(), url, redis.Options{})
		require.Error(t, err, name)
		what, later := redis.Diagnose(err)
		assert.Equal(t, "cannot be reached", what, "%s: %v", name, err)
		assert.True(t, later)
	}
	what, later := redis.Diagnose(nil)
	assert.Empty(t, what)
	assert.False(t, later)
}
