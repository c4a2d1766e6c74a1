package main_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	lists "github.com/callboard/callboard/domain/dnc"
)

// listedNumber returns the i-th number of a long do-not-call list. The numbers look random and never repeat.
func listedNumber(i int) string {
	const perArea, areas = 10_000_000, 8 * 99
	n := i * 2_654_435_761 % (areas * perArea)
	return fmt.Sprintf("+1%s%07d", officeCode(n/perArea), n%perArea)
}

// BenchmarkDoNotCall measures the upload, the loading and the lookup of a do-not-call list. The list has ten numbers per
// contact of a large campaign.
func BenchmarkDoNotCall(b *testing.B) {
	benchResults.addRowOnFailure(b)
	n := 10 * *benchContacts
	s := newMeasuredService(b)
	list := s.api("GET", "/v1/dnc-lists", nil)["data"].([]any)[0].(object)["id"].(string)
	r, w := io.Pipe()
	go func() {
		to := bufio.NewWriterSize(w, 64<<10)
		for i := range n {
			_, _ = to.WriteString(listedNumber(i) + "\n")
		}
		_ = w.CloseWithError(to.Flush())
	}()
	idle := residentMemory(b, s.pid())
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.pid()), []byte("5"), 0o200)
	watch := startStopwatch(b, s.pid())
	status, text, _ := s.tryRequest("POST", "/v1/dnc-lists/"+list+"/entries", r, "Content-Type", "text/plain")
	u := watch.stop()
	require.Less(b, status, 300, string(text))
	benchResults.add(fmt.Sprintf("Import of %d numbers into a do-not-call list", n), "",
		fmt.Sprintf("%.1f s, at most %.0f MB above idle", u.elapsed.Seconds(), (peakMemory(b, s.pid())-idle)/mb), false, &u)
	s.kill9()

	d, store, ws := s.openStore()
	defer func() { require.NoError(b, d.Close()) }()
	register, scrub, ctx := dnc.New(store, nil, slog.New(slog.DiscardHandler)), lists.DefaultScrub(ws, domain.Live), context.Background()
	require.Equal(b, list, scrub.Default)
	began := time.Now()
	require.NoError(b, register.LoadList(ctx, ws, list))
	loaded := time.Since(began)
	look := func(times int, number func(int) string, wanted bool) time.Duration {
		numbers := make([]string, times)
		for i := range numbers {
			numbers[i] = number(rand.IntN(n))
		}
		began := time.Now()
		for _, number := range numbers {
			hit, err := register.MatchPhone(ctx, ws, scrub, number)
			require.NoError(b, err)
			if (hit != nil) != wanted {
				b.Fatalf("%s is listed: %v", number, hit != nil)
			}
		}
		return time.Since(began) / time.Duration(times)
	}
	miss := look(1_000_000, func(i int) string { return "+44" + listedNumber(i)[2:] }, false)
	hit := look(10_000, listedNumber, true)
	benchResults.add(fmt.Sprintf("Lookup of a number among %d without it, by the filters in memory", n), "≤ 5 µs",
		fmt.Sprintf("%.2f µs (loaded in %.1f s)", float64(miss)/1000, loaded.Seconds()), miss <= 5*time.Microsecond, nil)
	benchResults.add("Lookup of a listed number, confirmed by the store", "", fmt.Sprintf("%.0f µs", float64(hit)/1000), false, nil)
}
