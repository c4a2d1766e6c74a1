package etcd_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/etcd"
	"github.com/callboard/callboard/persistence/lease/etcd/etcdtest"
	"github.com/callboard/callboard/persistence/lease/leasetest"
)

func open(members, space string, o lease.Options) (lease.Engine, error) {
	return etcd.New(members, etcd.Options{Prefix: space + "/", Options: o})
}

func TestMain(m *testing.M) { leasetest.Main(m, open) }

func suite(members string) leasetest.Suite {
	return leasetest.Suite{Store: members, Open: open, Short: 2 * time.Second}
}

func TestEtcdConforms(t *testing.T) {
	t.Parallel()
	url, _ := etcdtest.Start(t)
	suite(url).Run(t)
}

func TestAFrozenAndAKilledEtcdAreOutlived(t *testing.T) {
	t.Parallel()
	url, server := etcdtest.Start(t)
	suite(url).Faults(t, server)
}

func TestAnotherMemberIsAskedWhereOneIsAway(t *testing.T) {
	t.Parallel()
	url, _ := etcdtest.Start(t)
	s := suite("http://127.0.0.1:1," + url)
	e, err := open(s.Store, "x", lease.Options{})
	require.NoError(t, err)
	require.ErrorContains(t, e.Join(t.Context(), lease.Node{ID: "a"}, func() {}), "refused")
	require.NoError(t, e.Join(t.Context(), lease.Node{ID: "a"}, func() {}))
	assert.Len(t, e.Nodes(), 1)
	require.NoError(t, e.Leave(t.Context()))
}

func TestAddressesThatAreNoneAreRefused(t *testing.T) {
	for _, members := range []string{"", "127.0.0.1:2379", "http://a:1,", "http://user:secret@a:1", "redis://a:1"} {
		_, err := etcd.New(members, etcd.Options{})
		require.Error(t, err, members)
		assert.NotContains(t, err.Error(), "secret")
	}
}

func BenchmarkEtcd(b *testing.B) {
	url, _ := etcdtest.Start(b)
	suite(url).Bench(b)
}
