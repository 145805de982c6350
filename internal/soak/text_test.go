package soak

import "testing"

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 123456: "123,456", 1234567: "1,234,567",
	} {
		if got := thousands(n); got != want {
			t.Errorf("%d is written %s; want %s", n, got, want)
		}
	}
}
