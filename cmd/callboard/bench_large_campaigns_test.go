package main_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/sip/siptest"
)

// benchContacts is the number of contacts of large campaigns.
var benchContacts = flag.Int("bench-contacts", 1_000_000, "contacts of a large campaign") //nolint:gochecknoglobals // a flag

// csvRows returns a CSV file with n contacts. Its rows are generated while they are read.
func csvRows(n int) io.Reader { return csvRowsFrom(0, n) }

// csvRowsFrom returns a CSV file with n contacts, beginning with the contact number first.
func csvRowsFrom(first, n int) io.Reader {
	r, w := io.Pipe()
	go func() {
		b := bufio.NewWriterSize(w, 64<<10)
		_, _ = b.WriteString("phone,name,city\n")
		for i := first; i < first+n; i++ {
			_, _ = fmt.Fprintf(b, "+1201%s%04d,Name %d,City %d\n", officeCode(i*7/10_000), i*7%10_000, i, i%997)
		}
		_ = w.CloseWithError(b.Flush())
	}()
	return r
}

// officeCode returns the n-th valid area or office code of a US number: three digits from 200 on that do not end in
// 11.
func officeCode(n int) string {
	last := n % 99
	if last >= 11 {
		last++
	}
	return fmt.Sprintf("%d%02d", 2+n/99, last)
}

// peakMemory returns the largest resident memory of a process, in bytes, since its last reset in /proc/PID/clear_refs.
func peakMemory(b testing.TB, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	_, after, found := strings.Cut(string(text), "VmHWM:")
	require.True(b, found)
	kb, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(b, err)
	return float64(kb) * 1024
}

func folderSize(b testing.TB, dir string) float64 {
	b.Helper()
	sum := int64(0)
	require.NoError(b, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // the file has been deleted meanwhile
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	}))
	return float64(sum)
}

func (s *service) createLargeCampaign() string {
	return s.api("POST", "/v1/campaigns", object{
		"name": "large", "agent_id": s.createMuteAgent(), "caller_id": object{"number": "+12025550100"}, "compliance": allHours(),
		"pacing": object{"calls_per_minute": 100000, "max_concurrent": 1000},
	})["id"].(string)
}

// BenchmarkMillion measures a campaign of a million contacts: upload, start, restart after kill -9, and results.
func BenchmarkMillion(b *testing.B) {
	benchResults.addRowOnFailure(b)
	n := *benchContacts
	of := fmt.Sprintf("%d contacts", n)
	s, far := newMeasuredService(b, wideMediaPorts), startSIPp(b, "uas-instant")
	s.createTrunkForAllNumbers(far.port)
	id := s.createLargeCampaign()
	idle := residentMemory(b, s.pid())
	disk := folderSize(b, s.dataFolder())
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.pid()), []byte("5"), 0o200) // resets the peak after the start
	w := startStopwatch(b, s.pid())
	status, text, _ := s.tryRequest("POST", "/v1/campaigns/"+id+"/contacts", csvRows(n), "Content-Type", "text/csv")
	u := w.stop()
	require.Less(b, status, 300, string(text))
	require.Contains(b, string(text), fmt.Sprintf(`"accepted":%d`, n))
	took, grew, wrote := u.elapsed.Seconds(), (peakMemory(b, s.pid())-idle)/mb, (folderSize(b, s.dataFolder())-disk)/mb
	benchResults.add("Upload of "+of+" by CSV", "≤ 20 s", fmt.Sprintf("%.1f s (%.1f s of CPU)", took, u.cpu.Seconds()), took <= 20, &u)
	benchResults.add("Memory above idle during it, at most", "≤ 150 MB", fmt.Sprintf("%.0f MB", grew), grew <= 150, nil)
	benchResults.add("On disk after it", "≤ 100 MB", fmt.Sprintf("%.0f MB", wrote), wrote <= 100, nil)

	began := time.Now()
	s.api("POST", "/v1/campaigns/"+id+"/start", nil)
	started := time.Since(began)
	s.await("the first call", time.Minute, func() bool { st, ok := s.campaignStatus(id); return ok && st.Progress.Attempted > 0 })
	first := time.Since(began)
	benchResults.add("Start of the campaign of "+of, "≤ 1 s", fmt.Sprintf("%.2f s, first call after %.2f s", started.Seconds(), first.Seconds()), first <= time.Second, nil)
	time.Sleep(5 * time.Second)
	s.kill9()

	seeded := s.insertPastCalls(id, n)
	began = time.Now()
	s.startProcess()
	attempted := -1
	s.await("the next call", time.Minute, func() bool {
		st, ok := s.campaignStatus(id)
		if ok && attempted < 0 {
			attempted = st.Progress.Attempted
		}
		return ok && st.Progress.Attempted > attempted
	})
	back := time.Since(began).Seconds()
	benchResults.add("After kill -9 to the next call, "+of+", "+seeded, "≤ 3 s", fmt.Sprintf("%.2f s, %.0f MB", back, residentMemory(b, s.pid())/mb), back <= 3, nil)
	s.api("POST", "/v1/campaigns/"+id+"/pause", nil)
	time.Sleep(3 * time.Second)
	w = startStopwatch(b, s.pid())
	rows, size := s.countRows("/v1/campaigns/" + id + "/results")
	u = w.stop()
	require.Equal(b, n+1, rows)
	benchResults.add(fmt.Sprintf("Results of %s as CSV, %.0f MB", of, size/mb), "≤ 10 s",
		fmt.Sprintf("%.1f s (%.1f s of CPU)", u.elapsed.Seconds(), u.cpu.Seconds()), u.elapsed <= 10*time.Second, &u)
	for _, status := range []string{"retry_wait", "declined"} { // a tenth of the contacts, and none
		began, cursor, most := time.Now(), "", time.Duration(0)
		for range 20 {
			from := time.Now()
			page := s.api("GET", "/v1/campaigns/"+id+"/contacts?limit=100&status="+status+"&cursor="+cursor, nil)
			most = max(most, time.Since(from))
			if cursor, _ = page["next_cursor"].(string); cursor == "" {
				break
			}
		}
		benchResults.add("Slowest page of 100 contacts that are "+status+", of "+of, "≤ 0.1 s",
			fmt.Sprintf("%.0f ms (all pages %.0f ms)", most.Seconds()*1000, time.Since(began).Seconds()*1000), most <= 100*time.Millisecond, nil)
	}
	s.kill9()
}

// countRows downloads a file of the service. It returns the number of lines and the size in bytes.
func (s *service) countRows(path string) (lines int, size float64) {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+s.http+path, nil)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+s.key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer func() { _ = res.Body.Close() }()
	in := bufio.NewReaderSize(res.Body, 256<<10)
	for {
		line, err := in.ReadSlice('\n')
		size += float64(len(line))
		if err != nil {
			require.ErrorIs(s.t, err, io.EOF)
			return lines, size
		}
		lines++
	}
}

// openStore opens the store of a stopped service and returns its only workspace.
func (s *service) openStore() (d *pebble.Driver, store *persistence.Store, ws string) {
	s.t.Helper()
	ctx := context.Background()
	text, err := os.ReadFile(filepath.Join(s.dataFolder(), "master.key"))
	require.NoError(s.t, err)
	master, err := hex.DecodeString(strings.TrimSpace(string(text)))
	require.NoError(s.t, err)
	d, err = pebble.Open(filepath.Join(s.dataFolder(), "store"), pebble.Options{NoSync: true})
	require.NoError(s.t, err)
	store, err = persistence.NewStore(ctx, d, master, "1|bench")
	require.NoError(s.t, err)
	_, err = store.List(ctx, commit.Query{Kind: "workspace", Index: "all", Limit: 1}, func() domain.Record { return &domain.Workspace{} },
		func(r domain.Record) error { ws = r.Key().ID; return nil })
	require.NoError(s.t, err)
	return d, store, ws
}

// insertPastCalls changes the stored campaign of a stopped service as if it had placed calls for half an hour. Half of
// its contacts are then done, and a tenth waits for a retry.
func (s *service) insertPastCalls(id string, n int) (what string) {
	s.t.Helper()
	ctx := context.Background()
	d, store, ws := s.openStore()
	progress := &domain.Progress{WorkspaceID: ws, CampaignID: id}
	_, err := store.Get(ctx, progress)
	require.NoError(s.t, err)
	done, waiting := 0, 0
	for from := 0; from < n; from += domain.PageSize {
		page := &domain.ContactPage{WorkspaceID: ws, CampaignID: id, Index: from / domain.PageSize}
		if _, err = store.Get(ctx, page); err != nil {
			size := min(domain.PageSize, n-from)
			page.States, page.Attempts = make([]byte, size), make([]byte, size)
		}
		change := commit.Change{Workspace: ws}
		for i := range page.States {
			o := from + i
			if page.States[i] != 0 || o%10 >= 6 {
				continue
			}
			r := &domain.ContactResult{
				WorkspaceID: ws, CampaignID: id, Ordinal: o, Attempts: 1, CallID: domain.ContactID(id, o), Outcome: domain.OutcomeCompleted,
				Duration: 12, Notes: "pressed one, and said that all is well",
			}
			at := time.Now().UTC()
			r.EndedAt = &at
			state := domain.ContactCompleted
			if o%10 == 5 {
				due := at.Add(24 * time.Hour)
				state, r.Outcome, r.RetryAt = domain.ContactRetryWait, domain.OutcomeNoAnswer, &due
				waiting++
			} else {
				done++
			}
			r.State = state.String()
			page.States[i], page.Attempts[i] = byte(state), 1
			change.Puts = append(change.Puts, r)
		}
		change.Puts = append(change.Puts, page)
		_, err = store.Apply(ctx, change)
		require.NoError(s.t, err)
	}
	progress.Attempted += done + waiting
	progress.Attempts += done + waiting
	progress.RetryWaiting += waiting
	if progress.Outcomes == nil {
		progress.Outcomes = make(map[domain.Outcome]int)
	}
	progress.Outcomes[domain.OutcomeCompleted] += done
	_, err = store.Apply(ctx, commit.Change{Workspace: ws, Puts: []domain.Record{progress}})
	require.NoError(s.t, err)
	require.NoError(s.t, d.Close())
	return fmt.Sprintf("%d done, %d waiting for a retry", done, waiting)
}

// BenchmarkUploadRedis measures the upload of the contacts of a large campaign with Redis as the store.
func BenchmarkUploadRedis(b *testing.B) {
	benchResults.addRowOnFailure(b)
	url, _ := redistest.Start(b)
	s := newMeasuredService(b, "CALLBOARD_REDIS_URL="+url)
	s.createTrunkForAllNumbers(siptest.Port(b))
	id := s.createLargeCampaign()
	n := *benchContacts
	w := startStopwatch(b, s.pid(), redisProcess(b, url))
	status, text, _ := s.tryRequest("POST", "/v1/campaigns/"+id+"/contacts", csvRows(n), "Content-Type", "text/csv")
	u := w.stop()
	require.Less(b, status, 300, string(text))
	benchResults.add(fmt.Sprintf("Upload of %d contacts by CSV, Redis", n), "≤ 20 s",
		fmt.Sprintf("%.1f s (%.1f s of CPU)", u.elapsed.Seconds(), u.cpu.Seconds()), u.elapsed <= 20*time.Second, &u)
}

// BenchmarkSideBySide runs a hundred campaigns at once, each with a hundredth of the contacts. No number occurs in two
// campaigns, because two campaigns never call a number at the same time.
func BenchmarkSideBySide(b *testing.B) {
	benchResults.addRowOnFailure(b)
	const campaigns, window = 100, 15 * time.Second
	each := *benchContacts / campaigns
	s, far := newMeasuredService(b, wideMediaPorts), startSIPp(b, "uas-instant")
	s.createTrunkForAllNumbers(far.port)
	ids := make([]string, campaigns)
	for i := range ids {
		ids[i] = s.createLargeCampaign()
		status, text, _ := s.tryRequest("POST", "/v1/campaigns/"+ids[i]+"/contacts", csvRowsFrom(i*each, each), "Content-Type", "text/csv")
		require.Less(b, status, 300, string(text))
	}
	for _, id := range ids {
		s.api("POST", "/v1/campaigns/"+id+"/start", nil)
	}
	time.Sleep(3 * time.Second)
	attempted := func() []int {
		all := make([]int, campaigns)
		for i, id := range ids {
			st, ok := s.campaignStatus(id)
			require.True(b, ok)
			all[i] = st.Progress.Attempted
		}
		return all
	}
	before := attempted()
	w := startStopwatch(b, s.pid(), far.cmd.Process.Pid)
	time.Sleep(window)
	u := w.stop()
	sum, least, most := 0, math.MaxInt, 0
	for i, n := range attempted() {
		n -= before[i]
		sum, least, most = sum+n, min(least, n), max(most, n)
	}
	rate := float64(sum) / window.Seconds()
	benchResults.add(fmt.Sprintf("Attempts per second, %d concurrent campaigns of %d contacts", campaigns, each), "≥ 300",
		fmt.Sprintf("%.0f, each between %d and %d, %.0f MB", rate, least, most, residentMemory(b, s.pid())/mb), rate >= 300, &u)
	s.kill9()
}
