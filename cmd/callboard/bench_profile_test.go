package main_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/sip/siptest"
)

var (
	benchProfile = flag.String("bench-profile", "", "folder for profiles of what measured services do") //nolint:gochecknoglobals // a flag
	profiles     atomic.Int64                                                                           //nolint:gochecknoglobals // numbers their files
)

// watched gives a service an address for its profiles, where -bench-profile
// asks for some.
func (s *service) watched() {
	if *benchProfile != "" {
		s.admin = "127.0.0.1:" + strconv.Itoa(siptest.Port(s.t))
		s.env = append(s.env, "CALLBOARD_ADMIN_ADDR="+s.admin)
	}
}

// profiled keeps what a service does with its time, a file for every two
// seconds, until it ends. What is measured meanwhile is worth nothing.
func (s *service) profiled() {
	if s.admin == "" {
		return
	}
	exited, name := s.exited, strings.ReplaceAll(s.t.Name(), "/", "-")
	go func() {
		for {
			path := filepath.Join(*benchProfile, fmt.Sprintf("%s-%04d.pprof", name, profiles.Add(1)))
			_ = keepProfile("http://"+s.admin, path) // none of a service that starts or ends
			select {
			case <-exited:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
}

func keepProfile(admin, path string) error {
	resp, err := http.Get(admin + "/debug/pprof/profile?seconds=2")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	profile, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(path, profile, 0o600)
}
