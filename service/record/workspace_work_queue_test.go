package record_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/service/record"
)

func TestWorkspaceTaskServesOthersWhileOneWorkspaceHangsOrPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(map[string]int)
		turn := make(chan struct{}, 1)
		turn <- struct{}{}
		task := record.NewWorkspaceTask()
		wake := task.Wake
		go task.Run(t.Context(), slog.New(slog.DiscardHandler), "test", func(ctx context.Context, id string) error {
			<-turn
			begun[id]++
			n := begun[id]
			turn <- struct{}{}
			switch {
			case id == "ws_hangs":
				<-ctx.Done()
				return ctx.Err()
			case id == "ws_panics" && n == 1:
				panic("a page of another workspace")
			case id == "ws_fails" && n == 1:
				return errors.New("the store is away")
			}
			return nil
		})
		of := func(id string) int {
			<-turn
			defer func() { turn <- struct{}{} }()
			return begun[id]
		}
		for _, id := range []string{"ws_hangs", "ws_panics", "ws_fails", "ws_works"} {
			wake(id)
		}
		synctest.Wait()
		wake("ws_hangs") // the run of ws_hangs has begun
		wake("ws_works")
		synctest.Wait()
		require.Equal(t, []int{1, 1, 1, 2}, []int{of("ws_hangs"), of("ws_panics"), of("ws_fails"), of("ws_works")})
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []int{1, 2, 2, 2}, []int{of("ws_hangs"), of("ws_panics"), of("ws_fails"), of("ws_works")}, "a failed run is repeated until it succeeds")
	})
}

func TestWorkspaceTaskWokenDuringRunRunsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun, goOn := make(chan int, 10), make(chan struct{})
		n := 0
		task := record.NewWorkspaceTask()
		wake := task.Wake
		go task.Run(t.Context(), slog.New(slog.DiscardHandler), "test", func(ctx context.Context, _ string) error {
			n++
			begun <- n
			select {
			case <-goOn:
			case <-ctx.Done():
			}
			return nil
		})
		wake("ws_1")
		require.Equal(t, 1, <-begun)
		wake("ws_1")
		wake("ws_1")
		synctest.Wait()
		require.Empty(t, begun, "one run at a time")
		goOn <- struct{}{}
		require.Equal(t, 2, <-begun)
		goOn <- struct{}{}
		synctest.Wait()
		require.Empty(t, begun)
	})
}
