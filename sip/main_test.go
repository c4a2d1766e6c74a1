package sip_test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// TestMain raises the number of parallel tests, because the tests wait for timers of SIPp and use little CPU time.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f != nil && f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", "12")
	}
	os.Exit(m.Run())
}
