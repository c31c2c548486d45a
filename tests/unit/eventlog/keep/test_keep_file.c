/* SPDX-License-Identifier: Apache-2.0 */
/* State of a subscription on disk beside its spool: the old request or the new one. */
#include "common/base/str.h"
#include "eventlog/keep/keep_internal.h"
#include "tests/suite.h"
#include "tests/unit/common/store/each_fault.h"

#define NAME "run7"
#define OWNER "omig:tool-manipulate//me@here"
#define OLD_S 600
#define NEW_S 900

static struct loop *loop;

static nsec_t soon(void *arg)
{
	return NSEC_PER_MSEC;
}

static int send_nothing(void *arg, const struct msg *m)
{
	return -ERR_CLOSED;
}

static const struct spooler_turns turns = { soon, NULL };

static int opened(const struct disk *d, struct keeps **out)
{
	const struct keeps_conf c = {
		.loop = loop, .dir = "spool", .disk = d, .turns = &turns, .send = send_nothing
	};

	return keeps_open(&c, out, NULL);
}

static void request(struct keeps *ks, uint32_t lease_s)
{
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_OPEN,
				      .events_open = { NAME, OWNER, 1, 4, MSG_KEEP_DROP_OLDEST,
						       KEEP_MIN_BYTES, lease_s, false } });
}

static void put_old(const struct disk *d)
{
	struct keeps *ks;

	ck_assert_int_eq(opened(d, &ks), 0);
	request(ks, OLD_S);
	loop_advance(loop, NSEC_PER_SEC);
	keeps_free(ks);
}

static int change(const struct disk *d)
{
	const struct keep *k;
	struct keeps *ks;
	int rc = opened(d, &ks);

	if (rc)
		return rc;
	request(ks, NEW_S);
	k = keeps_find(ks, NAME);
	rc = k ? keep_save(k, NULL) : -ERR_NOTFOUND;
	keeps_free(ks);
	return rc;
}

static enum kept_state lease_there(const struct disk *d)
{
	enum kept_state got = KEPT_OTHER;
	const struct keep *k;
	struct keeps *ks;

	ck_assert_int_eq(opened(d, &ks), 0);
	k = keeps_find(ks, NAME);
	if (k && str_eq(keep_request(k)->identity, OWNER))
		got = keep_request(k)->lease_s == OLD_S	  ? KEPT_OLD
		      : keep_request(k)->lease_s == NEW_S ? KEPT_NEW
							  : KEPT_OTHER;
	keeps_free(ks);
	return got;
}

TEST(request_is_old_or_new_after_each_fault)
{
	loop = loop_new_virtual();
	each_fault(&(struct kept_case){ "subscription", put_old, change, lease_there, false });
	loop_free(loop);
}

/* The file is left for examination, and no other subscription is lost with it. */
TEST(one_that_is_damaged_or_of_another_form_costs_no_other)
{
	static struct memdisk m;
	struct keeps *ks;

	loop = loop_new_virtual();
	memdisk_init(&m, 1);
	put_old(&m.disk);
	put_kept(&m.disk, "spool/other.sub", "subscription 1", "no frame");
	put_kept(&m.disk, "spool/older.sub", "subscription 0", "");
	ck_assert_int_eq(opened(&m.disk, &ks), 0);
	ck_assert_ptr_nonnull(keeps_find(ks, NAME));
	ck_assert_ptr_null(keeps_find(ks, "other"));
	ck_assert_ptr_null(keeps_find(ks, "older"));
	ck_assert_ptr_nonnull(memdisk_find(&m, "spool/older.sub"));
	keeps_free(ks);
	memdisk_done(&m);
	loop_free(loop);
}

SUITE("keep file")
