package configs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/configs"
)

func createKeyFile(t *testing.T) string {
	t.Helper()
	path := createFile(t, "keys")
	require.NoError(t, os.WriteFile(path, []byte("aws_access_key_id = a\naws_secret_access_key = b\n"), 0o600))
	return path
}

func TestBlobsURLParsesBucketAndFolder(t *testing.T) {
	for url, want := range map[string]configs.Blobs{
		"":                                    {},
		"file:///mnt/shared/":                 {Folder: "/mnt/shared"},
		"file:///mnt/a%20b":                   {Folder: "/mnt/a b"},
		"s3://calls":                          {Bucket: "calls", Endpoint: "https://s3.us-east-1.amazonaws.com", Region: "us-east-1"},
		"s3://calls/a/b/?region=eu-central-1": {Bucket: "calls", Prefix: "a/b", Endpoint: "https://s3.eu-central-1.amazonaws.com", Region: "eu-central-1"},
		"s3://my.calls":                       {Bucket: "my.calls", Endpoint: "https://s3.us-east-1.amazonaws.com", Region: "us-east-1", PathStyle: true},
		"s3://calls?endpoint=http://10.0.0.5:9000/":                        {Bucket: "calls", Endpoint: "http://10.0.0.5:9000", CustomEndpoint: true, Region: "us-east-1", PathStyle: true},
		"s3://calls?endpoint=https://store.example&path_style=false":       {Bucket: "calls", Endpoint: "https://store.example", CustomEndpoint: true, Region: "us-east-1"},
		"s3://calls/x?endpoint=https://[fd00::1]:9000&region=garage":       {Bucket: "calls", Prefix: "x", Endpoint: "https://[fd00::1]:9000", CustomEndpoint: true, Region: "garage", PathStyle: true},
		"s3://calls/x?region=eu-1&path_style=true&endpoint=https://s:9000": {Bucket: "calls", Prefix: "x", Endpoint: "https://s:9000", CustomEndpoint: true, Region: "eu-1", PathStyle: true},
	} {
		c, err := configs.Load("", []string{"CALLBOARD_BLOBS_URL=" + url}, nil)
		require.NoError(t, err, url)
		assert.Equal(t, want, c.Blobs, url)
	}
	for _, url := range []string{
		"calls", "https://calls", "s3://", "s3://x", "s3://ca_lls!", "s3://calls:9000", "s3://calls/a//b", "s3://calls/../b", "s3://calls/a b", "s3://calls#x",
		"s3://calls?endpoint=host:9000", "s3://calls?endpoint=https://", "s3://calls?endpoint=https://h/path", "s3://calls?endpoint=https://h:0", "s3://calls?region=", "s3://calls?region=a/b",
		"s3://calls?path_style=perhaps", "s3://calls?regoin=eu", "s3://calls?region=a&region=b", "file://", "file:///", "file://host/a", "file:a", "file:///a?b=c", "file:///a#b", "s3://AKIA:s3cr3t@calls", "s3://calls?endpoint=https://u:s3cr3t@h", "s3://calls?key=s3cr3t",
	} {
		_, err := configs.Load("", []string{"CALLBOARD_BLOBS_URL=" + url}, nil)
		require.ErrorContains(t, err, "CALLBOARD_BLOBS_URL = ", url)
		require.ErrorContains(t, err, "must be a URL such as s3://bucket/prefix?endpoint=", url)
		assert.NotContains(t, err.Error(), "s3cr3t", url)
	}
}

func TestReadBlobKeysReadsFileOrEnvironment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("# comment\n[default]\naws_access_key_id = AKIA\naws_secret_access_key=s3cr3t/+=\nregion = x\n")
	k, err := configs.ReadBlobKeys(path, []string{"AWS_ACCESS_KEY_ID=other", "AWS_SECRET_ACCESS_KEY=other"})
	require.NoError(t, err)
	assert.Equal(t, []string{"AKIA", "s3cr3t/+=", ""}, []string{k.AccessKeyID, k.SecretAccessKey.Reveal(), k.SessionToken.Reveal()})
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", k, k, k), "s3cr3t")
	k, err = configs.ReadBlobKeys("", []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_SESSION_TOKEN=c"})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, []string{k.AccessKeyID, k.SecretAccessKey.Reveal(), k.SessionToken.Reveal()})
	_, err = configs.ReadBlobKeys("", []string{"AWS_ACCESS_KEY_ID=a"})
	require.ErrorContains(t, err, "set blobs_key_file, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")

	with := func(url string) error {
		_, err := configs.Load("", []string{"CALLBOARD_BLOBS_KEY_FILE=" + path, "CALLBOARD_BLOBS_URL=" + url}, nil)
		return err
	}
	require.NoError(t, with("s3://calls"))
	require.ErrorContains(t, with("file:///mnt/shared"), "must be set together with blobs_url")
	require.ErrorContains(t, with(""), "must be set together with blobs_url")
	for _, text := range []string{
		"aws_access_key_id = a\n", "AKIA:s3cr3t\n", "[a]\naws_access_key_id=a\naws_secret_access_key=s3cr3t\n[b]\naws_access_key_id=c\n",
	} {
		write(text)
		err := with("s3://calls")
		require.ErrorContains(t, err, "must be an existing file with the lines aws_access_key_id", text)
		assert.NotContains(t, err.Error(), "s3cr3t")
	}
}
