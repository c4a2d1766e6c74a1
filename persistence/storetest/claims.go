package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

// canCommit reports for each owner, a pair of shard and token, whether a commit of that owner is accepted.
func canCommit(t testing.TB, d persistence.Driver, owners ...[2]string) (list []bool) {
	t.Helper()
	for _, o := range owners {
		_, err := d.Commit(deadline(t), persistence.Commit{Shard: o[0], Token: o[1], Puts: []persistence.Put{set("x", o[1], "")}})
		if err != nil && !errors.Is(err, domain.ErrFenced) {
			t.Fatal(err)
		}
		list = append(list, err == nil)
	}
	return list
}

func testShardClaims(t *testing.T, d persistence.Driver) {
	var claims sync.WaitGroup
	var owners [][2]string
	for i := range 8 {
		owner := [2]string{strconv.Itoa(i), fmt.Sprintf("10%d|n", i)}
		owners = append(owners, owner)
		claims.Go(func() {
			if err := d.Claim(t.Context(), owner[0], owner[1]); err != nil {
				t.Error(err)
			}
		})
	}
	claims.Wait()
	equal(t, canCommit(t, d, owners...), []bool{true, true, true, true, true, true, true, true})
	noError(t, d.Claim(deadline(t), "3", "200|m"))
	equal(t, canCommit(t, d, owners...), []bool{true, true, true, false, true, true, true, true})
	equal(t, canCommit(t, d, [2]string{"3", "200|m"}, [2]string{"4", "200|m"}), []bool{true, false})
}

func testClaimAll(t *testing.T, d persistence.Driver) {
	nodes := [][2]string{{"0", "100|a"}, {"1", "100|a"}, {"2", "101|b"}, {"s", "102|b"}}
	for _, o := range nodes {
		noError(t, d.Claim(deadline(t), o[0], o[1]))
	}
	alone := [2]string{persistence.WholeStore, "1|alone"}
	for range 2 { // a repeated claim by the owner succeeds
		noError(t, d.ClaimAll(deadline(t), alone[1]))
		equal(t, canCommit(t, d, nodes...), []bool{false, false, false, false})
		equal(t, canCommit(t, d, alone, [2]string{"7", ""}), []bool{true, true})
	}
	next := [2]string{persistence.WholeStore, "1|next"}
	noError(t, d.ClaimAll(deadline(t), next[1]))
	equal(t, canCommit(t, d, alone, next), []bool{false, true})
	noError(t, d.Claim(deadline(t), "2", "103|c"))
	equal(t, canCommit(t, d, append(nodes, alone, next)...), make([]bool, 6))
	equal(t, canCommit(t, d, [2]string{"2", "103|c"}), []bool{true})
	noError(t, d.Claim(deadline(t), "0", "104|c"))
	noError(t, d.Claim(deadline(t), "9", "104|c"))
	equal(t, canCommit(t, d, [2]string{"0", "104|c"}, [2]string{"2", "103|c"}, [2]string{"9", "104|c"}), []bool{true, true, true})
	noError(t, d.ClaimAll(deadline(t), next[1]))
	equal(t, canCommit(t, d, [2]string{"0", "104|c"}, [2]string{"2", "103|c"}, [2]string{"9", "104|c"}, next), []bool{false, false, false, true})
}
