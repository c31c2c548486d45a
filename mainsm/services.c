/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/services.h"

const struct service *const mainsm_services[] = {
	mainsm_attach_services,
	mainsm_csr_services,
	mainsm_pa_services,
	mainsm_ask_services,
	mainsm_admin_services,
	mainsm_site_services,
	mainsm_job_services,
	mainsm_measure_services,
	mainsm_subscription_services,
	mainsm_metrics_services,
	mainsm_history_services,
	mainsm_take_services,
	NULL,
};
